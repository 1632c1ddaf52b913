// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The directory in which relative paths begin.
enum WorkingDirectory {
    /// Its absolute path; nil if it was removed.
    private static var current: SystemText? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe SystemText(cString: path)
    }

    /// Its absolute path; nil if it was removed, or if the path is not UTF-8.
    static var path: String? { current?.text }

    /// Why a relative path cannot become an absolute one.
    static func refusal(of path: String) -> ConnectorError {
        guard let current, current.text == nil else {
            return ConnectorError(
                .unreadable,
                "\(path.excerpt) is relative to the working directory, which was removed",
                fix: "give an absolute path, or start in a directory that exists"
            )
        }
        return ConnectorError(
            .unreadable,
            "\(path.excerpt) is relative to the working directory, whose path is not UTF-8: \(current.shown)",
            fix: "rename that directory, or start in another one and give an absolute path"
        )
    }
}
