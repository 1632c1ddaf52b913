// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform
internal import NIOSSL

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A PEM file with certificates of authorities to trust besides the system's.
struct AuthorityFile: Sendable {
    /// Where it is.
    let path: String
    /// Whether `SSL_CERT_FILE` names it, and not the application.
    let isFromEnvironment: Bool

    private static let marker = "-----BEGIN CERTIFICATE-----"
    /// How much of a file that cannot be used is read to say why, in bytes.
    private static let limit = 4 << 20

    /// Reads the certificates.
    ///
    /// - Throws: `unavailable`, with what is wrong with the file: the request is not at fault.
    func certificates() throws(ServiceFailure) -> [NIOSSLCertificate] {
        // A pipe would keep the reader waiting, and can be read only once.
        if isRegular, let certificates = try? NIOSSLCertificate.fromPEMFile(path) { return certificates }
        let origin = isFromEnvironment ? "SSL_CERT_FILE names" : "the authorities to trust are in"
        throw .unreadableAuthorities("\(origin) \(path), whose certificates cannot be read: \(fault)")
    }

    private var isRegular: Bool { FileStamp(path: path)?.kind == UInt32(S_IFREG) }

    /// Why NIOSSL cannot read the file, of which it says nothing.
    private var fault: String {
        guard let kind = FileStamp(path: path)?.kind else { return "\(SystemError())" }
        guard kind != UInt32(S_IFDIR) else { return "it is a directory" }
        guard kind == UInt32(S_IFREG) else { return "it is not a regular file" }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SystemFile.bytes(of: path, limit: Self.limit)
        } catch {
            return "\(error)"
        }
        guard let first = bytes.first else { return "it is empty" }
        let text = String(decoding: bytes, as: UTF8.self)
        let starts = text.ranges(of: Self.marker).map(\.lowerBound)
        guard !starts.isEmpty else {
            // A certificate in DER is a sequence of ASN.1.
            return first == 0x30
                ? "it is in DER, and must be in PEM: openssl x509 -inform der -in FILE converts it"
                : "it has no \"\(Self.marker)\""
        }
        let ends = starts.dropFirst() + [text.endIndex]
        let damaged = zip(starts, ends).enumerated().first { _, range in
            (try? NIOSSLCertificate.fromPEMBytes(Array(text[range.0..<range.1].utf8))) == nil
        }
        guard let damaged else { return "its PEM is damaged" }
        return "certificate \(damaged.offset + 1) of \(starts.count) is damaged"
    }
}
