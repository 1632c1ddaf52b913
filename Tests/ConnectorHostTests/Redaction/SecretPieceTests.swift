// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorManifest
@testable import ConnectorServices

/// Half of a secret is hidden wherever it stands, however it is encoded; less than that only beside a cut.
@Suite struct SecretPieceTests {
    private static let secret = "sk_live_0123456789abcdef"
    private let redactor = Redactor([Secret(secret)])

    /// A way to write bytes, each as a text of its own.
    struct Encoding: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What such a text begins with, which stays visible.
        var prefix = ""
        var separator = ""
        var encode: @Sendable (UInt8) -> String

        func callAsFunction(_ bytes: some Sequence<UInt8>) -> String {
            prefix + bytes.map(encode).joined(separator: separator)
        }

        static let escapes: [Encoding] = [
            Encoding(testDescription: "plain") { String(UnicodeScalar($0)) },
            Encoding(testDescription: "upper case") { String(UnicodeScalar($0)).uppercased() },
            Encoding(testDescription: "%73") { "%" + hexadecimal($0).uppercased() },
            Encoding(testDescription: "%5f") { "%" + hexadecimal($0) },
            Encoding(testDescription: "%255f") { "%25" + hexadecimal($0) },
            Encoding(testDescription: "%u0073") { "%u00" + hexadecimal($0) },
            Encoding(testDescription: #"\x73"#) { #"\x"# + hexadecimal($0) },
            Encoding(testDescription: #"\x5F"#) { #"\x"# + hexadecimal($0).uppercased() },
            Encoding(testDescription: #"\x{73}"#) { #"\x{"# + hexadecimal($0) + "}" },
            Encoding(testDescription: #"\u0073"#) { #"\u00"# + hexadecimal($0) },
            Encoding(testDescription: #"\\u0073"#) { #"\\u00"# + hexadecimal($0) },
            Encoding(testDescription: #"\u{73}"#) { #"\u{"# + hexadecimal($0) + "}" },
            Encoding(testDescription: #"\U00000073"#) { #"\U000000"# + hexadecimal($0) },
            Encoding(testDescription: #"\163"#) { #"\"# + octal($0) },
            Encoding(testDescription: #"\\163"#) { #"\\"# + octal($0) },
            Encoding(testDescription: "&#115;") { "&#\($0);" },
            Encoding(testDescription: "&#000000115;") { "&#000000\($0);" },
            Encoding(testDescription: "&#115") { "&#\($0)" },
            Encoding(testDescription: "&#x73;") { "&#x" + hexadecimal($0) + ";" },
            Encoding(testDescription: "&#X5F;") { "&#X" + hexadecimal($0).uppercased() + ";" },
            Encoding(testDescription: "&lowbar;") { $0 == UInt8(ascii: "_") ? "&lowbar;" : String(UnicodeScalar($0)) },
        ]

        static let hexadecimals: [Encoding] = [
            Encoding(testDescription: "7 3") { byte in hexadecimal(byte).map(String.init).joined(separator: " ") },
            Encoding(testDescription: "73") { hexadecimal($0) },
            Encoding(testDescription: "5F") { hexadecimal($0).uppercased() },
            Encoding(testDescription: "73 6b", separator: " ") { hexadecimal($0) },
            Encoding(testDescription: "5F:6C", separator: ":") { hexadecimal($0).uppercased() },
            Encoding(testDescription: "73-6b", separator: "-") { hexadecimal($0) },
            Encoding(testDescription: "73, 6b", separator: ", ") { hexadecimal($0) },
            Encoding(testDescription: "73.6b", separator: ".") { hexadecimal($0) },
            Encoding(testDescription: "73_6b", separator: "_") { hexadecimal($0) },
            Encoding(testDescription: "lines", separator: "\n        ") { hexadecimal($0) },
            Encoding(testDescription: "0x73, 0x6b", prefix: "0x", separator: ", 0x") { hexadecimal($0) },
            Encoding(testDescription: "0x730x6b", prefix: "0x", separator: "0x") { hexadecimal($0) },
            Encoding(testDescription: "0X5F 0X6C", prefix: "0X", separator: " 0X") { hexadecimal($0).uppercased() },
            Encoding(testDescription: "=73=6B", prefix: "=", separator: "=") { hexadecimal($0).uppercased() },
            Encoding(testDescription: "%73 %6b", prefix: "%", separator: " %") { hexadecimal($0) },
            Encoding(testDescription: #"\x73 \x6b"#, prefix: #"\x"#, separator: #" \x"#) { hexadecimal($0) },
        ]

        private static func hexadecimal(_ byte: UInt8) -> String {
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }

        private static func octal(_ byte: UInt8) -> String {
            String(byte >> 6, radix: 8) + String(byte >> 3 & 7, radix: 8) + String(byte & 7, radix: 8)
        }
    }

    @Test(arguments: Encoding.escapes + Encoding.hexadecimals)
    func `half of a secret is hidden wherever it begins, in any encoding`(_ encoding: Encoding) {
        let bytes = Array(Self.secret.utf8)
        for start in 0...12 {
            for end in (start + 12)...24 {
                let text = "[z] '\(encoding(bytes[start..<end]))' [z]"
                let redacted = redactor.redact(text)
                let rest = redacted.replacing("'\(encoding.prefix)•••'", with: "")
                #expect(rest == "[z]  [z]", "\(text) became \(redacted)")
            }
        }
    }

    @Test(arguments: ["", "u", "us", "use"], ["", ":", "::", ":::"])
    func `half of a secret is hidden in base64, at any alignment and with any neighbours`(
        before: String,
        after: String
    ) {
        let bytes = Array(Self.secret.utf8)
        for start in 0...12 {
            for end in (start + 12)...24 {
                let encoded = Base64.encode(Array(before.utf8) + bytes[start..<end] + Array(after.utf8))
                #expect(redactor.redact("Basic \(encoded)") == "Basic •••")
                // Without the first letter, and in the alphabet for URLs.
                let safe = encoded.dropFirst(1).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
                let isWhole = end - start > 13
                #expect(!isWhole || redactor.redact("\"\(String(safe))\"") == "\"•••\"")
            }
        }
    }

    @Test(arguments: ["", "u", "us", "use"])
    func `credentials in base64 are hidden where a server repeats the header in base64`(user: String) {
        let credentials = Base64.encode(Array("\(user):\(Self.secret)".utf8))
        let header = "POST / HTTP/1.1\r\nAuthorization: Basic \(credentials)\r\nAccept: */*\r\n"
        #expect(redactor.redact("it sent \(Base64.encode(Array(header.utf8))).") == "it sent •••.")
    }

    @Test func `a secret in base64 is found across indented lines`() {
        let encoded = Base64.encode(Array(Self.secret.utf8))
        let lines = "\(encoded.prefix(10))\n    \(encoded.dropFirst(10).prefix(12))\r\n\t\(encoded.dropFirst(22))"
        #expect(redactor.redact("key: |\n    \(lines)\n") == "key: |\n    •••\n")
    }

    @Test(arguments: [
        ("…cdef was refused", "…••• was refused"),
        ("...9abcdef was refused", "...••• was refused"),
        ("key \u{FFFD}6789abcdef", "key \u{FFFD}•••"),
        ("key …%63d%65f.", "key …•••."),
        ("key …&hellip;cdef", "key …&hellip;•••"),
        ("…def was refused", "…def was refused"),
        ("89abcdef was refused", "••• was refused"),
        ("9abcdef was refused", "9abcdef was refused"),
        ("key 89abcdef was refused", "key 89abcdef was refused"),
        ("…ve_01234…", "…•••…"),
        ("...ve_01234...", "...•••..."),
        ("…ve_0123…", "…ve_0123…"),
        ("key ve_0123456 was refused", "key ve_0123456 was refused"),
        ("key ve_012345678 was refused", "key ••• was refused"),
    ])
    func `the end of a secret is hidden after a cut, and its middle between two cuts`(text: String, expected: String) {
        #expect(redactor.redact(text) == expected)
    }

    @Test(arguments: Encoding.escapes + Encoding.hexadecimals)
    func `wherever an ellipsis cuts an encoded secret, at most seven of its bytes stay visible`(_ encoding: Encoding) {
        let encoded = encoding(Self.secret.utf8)
        let most = Self.secret.utf8.map { encoding(repeatElement($0, count: 8)).utf8.count }.max() ?? 0
        for cut in 0..<encoded.count {
            for text in ["…\(encoded.dropFirst(cut))", "\(encoded.dropLast(cut))…"] {
                let visible = redactor.redact(text).filter { $0 != "•" && $0 != "…" }
                #expect(visible.utf8.count < most, "\(text) shows \(visible)")
            }
        }
    }

    @Test(arguments: ["", "u", "us"])
    func `wherever an ellipsis cuts a secret in base64, at most ten letters stay visible`(before: String) {
        let encoded = Base64.encode(Array((before + Self.secret).utf8))
        for cut in 0..<encoded.count {
            for text in ["…\(encoded.dropFirst(cut))", "\(encoded.dropLast(cut))..."] {
                let visible = redactor.redact(text).filter { $0 != "•" && $0 != "…" && $0 != "." }
                #expect(visible.count <= 10, "\(text) shows \(visible)")
            }
        }
    }

    @Test func `named references of HTML are decoded`() {
        let redactor = Redactor([Secret("Grüße/aus+Köln")])
        #expect(redactor.redact("at Gr&uuml;&szlig;e&sol;aus&plus;K&ouml;ln.") == "at •••.")
    }

    @Test(arguments: [
        ("pass", "the passport, a password, and a compass", "the •••port, a •••word, and a com•••"),
        ("test", "est. 1990, and tes", "est. 1990, and tes"),
        ("a", "a banana...", "••• banana..."),
        ("localhost", "local hosts, localised", "local hosts, localised"),
        ("correct-horse-battery-staple", "the horse is correct, the battery is of staple", nil),
        ("0000000000000000", "at 0x1000, 00:00:00.000, $1,000,000", nil),
        ("deadbeef", "dead bee fed a decade of cafe, 12:34:56", nil),
    ])
    func `ordinary text stays as it is`(secret: String, text: String, expected: String?) {
        #expect(Redactor([Secret(secret)]).redact(text) == expected ?? text)
    }

    @Test func `64 bytes of a long secret are hidden, wherever they come from`() {
        var random = SeededGenerator(seed: 64)
        let key = Base64.encode((0..<1500).map { _ in UInt8.random(in: 0...255, using: &random) })
        let redactor = Redactor([Secret(key)])
        // Next to the piece, a random key may contain what stands for a blank, which is then hidden as well.
        let blanks = ["line ••• of the key", "line •••of the key", "line••• of the key", "line•••of the key"]
        for start in stride(from: 0, through: key.utf8.count - 64, by: 176) {
            let shown = redactor.redact("line \(key.dropFirst(start).prefix(64)) of the key")
            #expect(blanks.contains(shown), "from \(start): \(shown)")
        }
    }
}
