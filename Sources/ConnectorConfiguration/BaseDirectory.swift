// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The directory of a configuration file, where its relative paths start, wherever the process was started.
package struct BaseDirectory: Sendable, Hashable {
    /// Without a slash at the end; `.` for the working directory.
    package let path: String

    /// Creates a base from the path of a directory.
    package init(_ path: String) {
        let trimmed = path.utf8.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.path = trimmed.isEmpty ? "." : trimmed
    }

    /// Creates a base from the directory of a file.
    package init(of file: String) {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            self.init(".")
            return
        }
        self.init(slash == file.startIndex ? "/" : String(file[..<slash]))
    }

    /// A path of the file, resolved for the process.
    package func resolve(_ relative: String) -> String {
        if relative.utf8.first == UInt8(ascii: "/") || path == "." { return relative }
        return path == "/" ? "/" + relative : "\(path)/\(relative)"
    }
}
