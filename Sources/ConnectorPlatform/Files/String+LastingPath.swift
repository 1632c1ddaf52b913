// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Paths that lead to the same file whatever the working directory becomes.
extension String {
    /// The absolute path of a file that is given now, as a ``GivenPath``; unchanged if the working directory was removed, or its path
    /// is not UTF-8.
    ///
    /// Call it once, where the path comes in.
    package var lastingPath: String {
        guard !isEmpty, !starts(ascii: "/"), let directory = WorkingDirectory.path else { return self }
        return GivenPath.rooted(self, in: directory)
    }

    /// The same as ``lastingPath``.
    ///
    /// - Throws: `unreadable` if the path is relative, and the working directory was removed, or its path is not UTF-8.
    package func requireLastingPath() throws(ConnectorError) -> String {
        let path = lastingPath
        guard path.isEmpty || path.starts(ascii: "/") else { throw WorkingDirectory.refusal(of: self) }
        return path
    }
}
