// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest

/// One file of a project.
package struct ProjectFile: Sendable, Hashable {
    /// The path below the project's folder.
    package var path: String
    /// The content.
    package var text: String

    /// Whether it belongs to the host, and not to the author.
    var isGenerated: Bool { path.hasPrefix("generated/") }

    /// The digest of the content, in hexadecimal.
    var digest: String { SHA256Digest(of: text).description }
}
