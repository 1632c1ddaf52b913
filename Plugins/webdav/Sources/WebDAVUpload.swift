// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest
internal import ConnectorKit
internal import ConnectorManifest

/// An upload under way, whose content is in memory until it completes.
struct WebDAVUpload {
    /// What the upload is for.
    let request: FileUploadRequest
    let partSize: Int
    /// When a call was last about it, on the monotonic clock.
    var usedAt: UInt64
    private(set) var content: [UInt8] = []
    /// Where the last part begins: it may come again.
    private var last = 0

    /// The largest file: what the host sends in one request.
    static let sizeLimit = 64 << 20

    init(request: FileUploadRequest, partSize: Int, usedAt: UInt64) {
        self.request = request
        self.partSize = partSize
        self.usedAt = usedAt
    }

    /// Adds a part, or the last one again.
    mutating func add(_ part: [UInt8], at offset: UInt64) throws(PluginError) {
        let isAgain = offset == last && content.count - last == part.count
        guard isAgain || offset == content.count else {
            throw PluginError(.invalid, "the part begins at byte \(offset); the next one begins at \(content.count)")
        }
        guard offset % UInt64(partSize) == 0, part.count <= partSize else {
            throw PluginError(
                .invalid,
                "the part of \(part.count) bytes at byte \(offset) is no part; all but the last have \(partSize) bytes"
            )
        }
        guard offset + UInt64(part.count) <= Self.sizeLimit else {
            throw PluginError(
                .tooLarge,
                "WebDAV takes a file in one request, which has at most \(Self.sizeLimit >> 20) MiB here"
            )
        }
        if isAgain { content.removeLast(content.count - last) }
        last = content.count
        content += part
    }

    /// The digest of the content.
    ///
    /// - Throws: `invalid` if the content has another size or digest than it must have.
    func checkedDigest(size: UInt64, digest: String?) throws(PluginError) -> String {
        var hash = SHA256()
        hash.update(content)
        let found = hash.hexadecimal
        guard size == content.count, digest == nil || digest == found else {
            throw PluginError(
                .invalid,
                "the upload has \(content.count) bytes with the SHA-256 \(found), not \(size) with \(digest ?? "any")"
            )
        }
        return found
    }
}
