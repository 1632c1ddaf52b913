// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest
internal import ConnectorLoading
internal import ConnectorPlatform
internal import Synchronization

/// The digests of image files, computed again only for a file that has changed.
final class ImageDigests: Sendable {
    private let known = Mutex<[String: (stamp: FileStamp, digest: String)]>([:])

    /// The SHA-256 of a candidate's file, in hexadecimal; nil if it is not a file, or cannot be read. Blocks.
    func digest(of candidate: PluginCandidate) -> String? {
        guard case .file = candidate.image else { return nil }
        let path = candidate.path
        if let known = known.withLock({ $0[path] }), known.stamp == candidate.stamp { return known.digest }
        guard let bytes = try? ImageBytes(path: path), let digest = try? bytes.sha256().description else { return nil }
        known.withLock { $0[path] = (bytes.stamp, digest) }
        return digest
    }
}
