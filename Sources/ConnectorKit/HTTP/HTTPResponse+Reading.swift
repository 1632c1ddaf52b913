// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension HTTPResponse {
    /// Whether the status is 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// Whether the body is a web page, which no vendor's API returns.
    public var isPage: Bool {
        let type = headers["Content-Type"]?.mediaType ?? ""
        let start = body.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
        guard let start, start != UInt8(ascii: "{"), start != UInt8(ascii: "[") else { return false }
        return start == UInt8(ascii: "<") || type.contains("html")
    }

    /// The body as JSON. A byte order mark before it is ignored (RFC 8259, section 8.1).
    ///
    /// - Throws: A ``PluginError`` of status `protocolViolation` with the error's position and the beginning of the body, or with the
    ///   content coding that the host does not decode.
    public func json() throws(PluginError) -> JSONValue {
        do throws(ConnectorError) {
            let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : body
            return try JSONValue(parsing: text, depthLimit: JSONParser.vendorDepthLimit)
        } catch {
            if let coding = headers["Content-Encoding"] {
                throw PluginError(
                    .protocolViolation,
                    "the answer (HTTP \(status)) has the content coding \"\(coding.prefix(40))\", which the host does not decode",
                    domain: "http",
                    detail: Int32(clamping: status)
                )
            }
            let position = error.position.map { " at \($0)" } ?? ""
            throw PluginError(
                .protocolViolation,
                "the answer (HTTP \(status)) is not JSON\(position): \(error.message); it begins \"\(excerpt)\"",
                domain: "http",
                detail: Int32(clamping: status)
            )
        }
    }

    /// The beginning of the body as one line of text, for messages; a cut ends in `…`, which lets the host recognize
    /// and redact a secret that was cut there.
    public var excerpt: String { excerpt(of: 200) }

    /// The beginning of the body, as ``excerpt``, but with as many bytes as the vendor's words may need.
    package func excerpt(of count: Int) -> String {
        let text = String(decoding: body.prefix(count), as: UTF8.self) + (body.count > count ? "…" : "")
        var scalars = text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }[...]
        while scalars.last == " " { scalars.removeLast() }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The wait that `Retry-After` requests (RFC 9110, section 10.2.3), at most a year; nil if absent or unreadable.
    ///
    /// - Parameter now: The time that a date is measured from if the response has no `Date`: the server's own clock has both, and this
    ///   machine's may be wrong.
    public func retryAfter(now: Timestamp) -> Duration? {
        guard let text = headers["Retry-After"] else { return nil }
        // Some servers send fractions, or more digits than an integer holds.
        let isDecimal = text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
        let decimal = isDecimal ? Double(text).map { Int64(min($0, 31_536_000).rounded(.up)) } : nil
        let seconds = (Int64(text) ?? decimal).map { Duration.seconds(max(0, $0)) }
        // A device without a clock may be decades behind the server's date.
        let sent = headers["Date"].flatMap { Timestamp(httpDate: $0) }
        let rest = Timestamp(httpDate: text).map { Int64(clamping: $0.nanoseconds(after: sent ?? now)) }
        let wait = seconds ?? rest.map { Duration.nanoseconds($0) }
        return wait.map { min($0, .seconds(31_536_000)) }
    }
}
