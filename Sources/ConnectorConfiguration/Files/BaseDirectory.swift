// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorPlatform

/// The directory that the relative paths of a configuration file are resolved against, regardless of the working directory.
package struct BaseDirectory: Sendable, Hashable {
    /// The path, without a trailing slash; `.` for the working directory.
    package let path: String

    /// The path as it was given.
    package var given: String {
        let given = "\(path)/".withGivenPaths
        return given.isEmpty ? "." : String(given.dropLast())
    }

    /// Creates a base from a directory's path.
    package init(_ path: String) {
        let trimmed = path.utf8.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.path = trimmed.isEmpty ? "." : trimmed
    }

    /// Creates a base from the path of a directory that an application gives now.
    package init(given path: String) {
        self.init((path.isEmpty ? "." : path).lastingPath)
    }

    /// Creates a base from the directory that contains a file.
    package init(of file: String) {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            self.init(".")
            return
        }
        self.init(slash == file.startIndex ? "/" : String(file[..<slash]))
    }

    /// Resolves a path from the file, so that the process can use it.
    package func resolve(_ relative: String) -> String {
        if relative.utf8.first == UInt8(ascii: "/") || path == "." { return relative }
        return path == "/" ? "/" + relative : "\(path)/\(relative)"
    }
}
