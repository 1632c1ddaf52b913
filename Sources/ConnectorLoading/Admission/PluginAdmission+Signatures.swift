// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorDigest
internal import ConnectorPlatform

extension PluginAdmission {
    /// The suffix of the name of a signature's file.
    package static let signatureEnding = ".minisig"

    /// Why no trusted key vouches for a plugin, found without reading its image; nil if one claims to, or if there are no keys.
    ///
    /// Whether the signature is right is checked when the image is loaded.
    package func concern(_ candidate: PluginCandidate) -> String? {
        guard !keys.isEmpty else { return nil }
        let files =
            switch candidate.image {
            case .linked: [String]()
            case .library: [candidate.sidecar].compactMap(\.self)
            case .file: [candidate.path] + (candidate.embeddedText == nil ? [candidate.sidecar].compactMap(\.self) : [])
            }
        for file in files {
            do throws(ConnectorError) {
                if let concern = try concern(signature(of: file), file) { return concern }
            } catch {
                return error.message
            }
        }
        return nil
    }

    /// The error for a plugin that must be signed and is not; nil if it is, or need not be.
    package func refusal(_ candidate: PluginCandidate) -> ConnectorError? {
        requiresSignature ? concern(candidate).map(Self.unsigned) : nil
    }

    /// Checks bytes against the signature beside their file.
    func checkSignature(of bytes: ImageBytes) throws(ConnectorError) {
        let found = try signature(of: bytes.path)
        if let concern = concern(found, bytes.path) {
            guard requiresSignature else { return }
            throw Self.unsigned(concern)
        }
        guard let (signature, digest) = found, let key = keys.first(where: { $0.id == signature.keyID }) else { return }
        let verdict = unsafe bytes.withAllBytes { unsafe signature.verdict(for: $0, key) }
        guard let verdict else { throw Preflight.changed(bytes.path) }
        let file = "\(bytes.path)\(Self.signatureEnding)"
        let message: String
        switch verdict {
        case .valid: return
        case .otherComment:
            message = "the trusted comment in \(file) (SHA-256 \(digest)) is not what the key \(key) signed"
        case .otherContent:
            message =
                "\(bytes.path) (SHA-256 \(try bytes.sha256())) is not what the key \(key) signed in \(file) "
                + "(SHA-256 \(digest))"
        }
        throw ConnectorError(
            .badSignature,
            message,
            fix: "install the plugin again with its signature, the signature first; or sign it: "
                + "minisign -S -m \(bytes.path.lastPathComponent)"
        )
    }

    /// The signature beside a file, and the digest of the signature's own file; nil if there is none.
    private func signature(
        of path: String
    ) throws(ConnectorError) -> (signature: MinisignSignature, digest: String)? {
        let file = path + Self.signatureEnding
        let bytes: ImageBytes
        do throws(ConnectorError) {
            bytes = try ImageBytes(path: file, limit: MinisignSignature.sizeLimit)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
        guard let text = bytes.copy(at: 0, count: bytes.count) else { throw Preflight.changed(file) }
        do throws(ConnectorError) {
            let signature = try MinisignSignature(parsing: text, file: file)
            return (signature, unsafe text.withUnsafeBytes { unsafe SHA256Digest(of: $0).description })
        } catch {
            var error = error
            error.code = .badSignature
            error.message = "\(file) is damaged: \(error.message)"
            throw error
        }
    }

    /// Why a signature does not come from a trusted key; nil if it claims to.
    private func concern(_ found: (signature: MinisignSignature, digest: String)?, _ path: String) -> String? {
        guard let found else {
            return "\(path) is not signed: there is no \(path.lastPathComponent)\(Self.signatureEnding)"
        }
        let id = found.signature.keyID
        guard !keys.contains(where: { $0.id == id }) else { return nil }
        return "\(path) is signed by the key \(id), which is not among the keys of \"trust\""
    }

    private static func unsigned(_ concern: String) -> ConnectorError {
        ConnectorError(
            .denied,
            "the plugin is not trusted: \(concern)",
            fix: "install the vendor's signature beside it, or sign it with a key of \"trust\": minisign -S -m FILE"
        )
    }
}
