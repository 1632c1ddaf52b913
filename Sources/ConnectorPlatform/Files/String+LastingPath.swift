// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Paths that lead to the same file whatever the working directory becomes.
extension String {
    /// The absolute path of a file that is given now, as a ``GivenPath``; unchanged if the working directory was removed.
    ///
    /// Call it once, where the path comes in.
    package var lastingPath: String {
        guard !isEmpty, !starts(ascii: "/"), let directory = unsafe getcwd(nil, 0) else { return self }
        defer { unsafe free(directory) }
        return GivenPath.rooted(self, in: unsafe String(cString: directory))
    }

    /// The same as ``lastingPath``.
    ///
    /// - Throws: `unreadable` if the path is relative, and the working directory was removed.
    package func requireLastingPath() throws(ConnectorError) -> String {
        let path = lastingPath
        guard path.isEmpty || path.starts(ascii: "/") else {
            throw ConnectorError(
                .unreadable,
                "\(excerpt) is relative to the working directory, which was removed",
                fix: "give an absolute path, or start in a directory that exists"
            )
        }
        return path
    }
}
