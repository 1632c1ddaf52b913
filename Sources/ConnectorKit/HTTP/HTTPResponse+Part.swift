// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension HTTPResponse {
    /// The bytes that a request with `Range: bytes=FIRST-LAST` asked for (RFC 9110, section 14).
    ///
    /// They come from an answer with status 206, or from the whole content if the server does not support ranges.
    ///
    /// - Parameters:
    ///   - offset: Where the part begins, in bytes.
    ///   - count: The most bytes, 1 or more.
    ///   - vendor: The vendor's name, which becomes the error's domain.
    /// - Throws: `protocolViolation` if the answer holds another range, or fewer bytes than it declares.
    package func part(from offset: UInt64, count: Int, vendor: String) throws(PluginError) -> [UInt8] {
        func violation(_ message: String) -> PluginError {
            PluginError(.protocolViolation, message, domain: vendor, detail: Int32(clamping: status))
        }
        guard status == 206 else {
            if let length = headers["Content-Length"].flatMap({ Int($0) }), length != body.count {
                throw violation("the answer has \(body.count) of \(length) bytes")
            }
            return Array(body.dropFirst(Int(clamping: offset)).prefix(count))
        }
        let field = headers["Content-Range"] ?? ""
        let numbers = field.utf8.split { !$0.isDigit }.compactMap { UInt64(Substring($0)) }
        guard field.utf8.starts(with: "bytes ".utf8), numbers.count >= 2, numbers[0] == offset, numbers[1] >= offset,
            !body.isEmpty, numbers[1] - offset == body.count - 1, body.count <= count
        else {
            // The range of a compressed answer is one of other bytes; but a file may be kept compressed, and say so.
            let words = headers.foreignCoding.map { ", \($0)" } ?? ""
            throw violation(
                "\(body.count) bytes with the range \"\(field.prefix(40))\" came for \(count) from byte \(offset)\(words)"
            )
        }
        return body
    }
}

extension HTTPStream {
    /// Checks that the parts of an answer are not compressed, which the host does not undo.
    ///
    /// - Throws: `protocolViolation` that names the coding. The body of a refusal, whose status says enough, is not checked.
    package func checkCoding(vendor: String) throws(PluginError) {
        guard (200..<300).contains(status), let coding = headers.foreignCoding else { return }
        throw PluginError(
            .protocolViolation,
            "the answer came \(coding)",
            domain: vendor,
            detail: Int32(clamping: status)
        )
    }
}

extension HTTPFields {
    /// What is wrong with the coding of a body for which `identity` was asked (RFC 9110, section 8.4); nil for nothing.
    fileprivate var foreignCoding: String? {
        guard let coding = self["Content-Encoding"], !coding.isEmpty, coding.lowercased() != "identity" else {
            return nil
        }
        return "with the Content-Encoding \"\(coding.prefix(40))\", for which nobody asked; "
            + "switch it off in the server, or in a proxy before it"
    }
}
