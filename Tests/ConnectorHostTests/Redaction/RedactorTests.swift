// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

@Suite struct RedactorTests {
    private static let value = #"p"a/s s+w&ö\%d"#

    @Test(arguments: [
        (#"it is p"a/s s+w&ö\%d."#, "it is •••."),
        (#"{"k":"p\"a/s s+w&ö\\%d"}"#, #"{"k":"•••"}"#),
        (#"{"k":"p\"a\/s s+w&\u00f6\\%d"}"#, #"{"k":"•••"}"#),
        ("k=p%22a%2Fs%20s%2Bw%26%C3%B6%5C%25d&x", "k=•••&x"),
        ("k=p%22a%2fs+s%2bw%26%c3%b6%5c%25d", "k=•••"),
        ("k=p%22a/s%20s+w&%C3%B6%5C%25d", "k=•••"),
        ("nothing of it", "nothing of it"),
        ("k=p%2522a%252Fs%2520s%252Bw%2526%25C3%25B6%255C%2525d&x", "k=•••&x"),
        (#"<b title="p&quot;a/s s+w&amp;ö\%d">"#, #"<b title="•••">"#),
        (#"<b title="p&#34;a&#x2F;s s+w&#38;&#246;\%d">"#, #"<b title="•••">"#),
        (#"key: "p\"a/s s+w&\u{f6}\\%d", \x70\"a/s\x20s+w&ö\\%d"#, #"key: "•••", •••"#),
        (#"{"e":"{\"k\":\"p\\\"a/s s+w&ö\\\\%d\"}"}"#, #"{"e":"{\"k\":\"•••\"}"}"#),
        (#"at P"A/S S+W&ö\%D.example"#, "at •••.example"),
        ("x7022612F7320732B7726C3B65C2564y", "x•••y"),
        ("7022612f7320732b7726c3b65c2564", "•••"),
        ("a7022612f7320732b7726c3b65c2564", "a•••"),
    ])
    func `a secret is found however it is escaped`(text: String, expected: String) {
        #expect(Redactor([Secret(Self.value)]).redact(text) == expected)
    }

    @Test(arguments: ["", "u", "us", "use", "user:"], ["", ":", "::", ":xyz"])
    func `a secret is found in base64 whatever stands beside it`(before: String, after: String) {
        let redactor = Redactor([Secret("s3cr3t-välue?>")])
        let text = base64(Array("\(before)s3cr3t-välue?>\(after)".utf8))
        #expect(redactor.redact("Basic \(text)") == "Basic •••")
        let safe = text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        #expect(redactor.redact("\"\(String(safe))\"") == "\"•••\"")
    }

    @Test func `overlapping and repeated secrets leave nothing`() {
        let redactor = Redactor([Secret("abcd"), Secret("cdef"), Secret("abcdefgh")])
        #expect(redactor.redact("abcdef") == "•••")
        #expect(redactor.redact("abcdefgh abcdabcd xcdefx") == "••• •••••• x•••x")
    }

    @Test(arguments: [
        ("abcd and YWJjZA== and again abcd", "••• and ••• and again •••"),
        ("YWJjZGFiY2Q= abcdabcdYWJjZA==abcd", "••• ••••••"),
        ("%61%62%63%64abcdYWJjZA==", "••••••••"),
    ])
    func `a secret that overlaps itself in several encodings leaves nothing readable`(text: String, expected: String) {
        #expect(!Redactor([Secret("abcd")]).redact(text).contains("bcd"))
        #expect(!Redactor([Secret("abcd")]).redact(text).contains("YWJj"))
        #expect(Redactor([Secret("abcd")]).redact(text).filter { $0 != "•" } == expected.filter { $0 != "•" })
    }

    @Test func `a secret in base64 is found across several lines`() {
        let redactor = Redactor([Secret("a-secret-of-many-letters")])
        #expect(redactor.redact("x: YS1zZWNy\r\nZXQtb2YtbWFu\r\neS1sZXR0ZXJz\r\n.") == "x: •••\r\n.")
    }

    @Test func `short secrets are found as whole words, and in base64`() {
        let redactor = Redactor([Secret("a"), Secret(""), Secret("x1z")])
        #expect(redactor.redact("an a, key=x1z; ax1z \"x1z\" X1Z") == "an •••, key=•••; ax1z \"•••\" •••")
        #expect(redactor.redact("Basic dXNlcjp4MXo=") == "Basic •••")
        #expect(redactor.redact("%78%31%7a") == "•••")
        #expect(Redactor([Secret("")]).redact("an a, key=") == "an a, key=")
    }

    @Test(arguments: [
        ("refused sk_live_0123456789abcde", "refused •••"),
        ("refused sk_live_0123", "refused •••"),
        ("refused sk_live_…", "refused •••…"),
        ("refused sk_live_0...", "refused •••..."),
        ("refused \"sk_live_01\u{FFFD}", "refused \"•••\u{FFFD}"),
        ("refused sk_l…", "refused •••…"),
        ("refused sk_…", "refused sk_…"),
        ("refused sk_live_", "refused •••"),
        ("refused sk_live", "refused sk_live"),
        ("refused sk_live_01 (HTTP 401)", "refused sk_live_01 (HTTP 401)"),
        ("refused sk_live_0123456789 (HTTP 401)", "refused ••• (HTTP 401)"),
        ("refused sk%5flive%5f0123", "refused •••"),
        ("refused sk%5fli%…", "refused •••%…"),
        ("refused sk%5fli%5…", "refused •••%5…"),
        ("refused sk%255fli%25…", "refused •••%25…"),
        (#"refused \u0073k_li\u00"#, #"refused \u0073k_li\u00"#),
        (#"refused \u0073k_live_0\u00"#, #"refused •••\u00"#),
        ("Basic c2tfbGl2ZV8wMTIz", "Basic •••"),
    ])
    func `the beginning of a secret is hidden where its text is cut off`(text: String, expected: String) {
        #expect(Redactor([Secret("sk_live_0123456789abcdef")]).redact(text) == expected)
    }

    @Test func `wherever a text is cut, at most seven bytes of a secret are seen`() {
        let secret = "correct-horse-battery-staple"
        let redactor = Redactor([Secret(secret)])
        let text = "the vendor says: \(secret), \(base64(Array(secret.utf8))), and more"
        for limit in 0...text.utf8.count {
            let cutByPlugin = redactor.redact(String(decoding: text.utf8Prefix(limit), as: UTF8.self))
            let cutByHost = redactor.redact(text, limit: limit)
            #expect(!cutByPlugin.contains("correct-") && !cutByHost.contains("corr"))
            #expect(!cutByPlugin.contains("Y29ycmVjdC0") && !cutByHost.contains("Y29y"))
            #expect(cutByHost.utf8.count <= max(limit, 3))
        }
    }

    @Test func `a secret that spans the parts of a value is found`() {
        let redactor = Redactor([Secret("12345678"), Secret(#"{"private":"key"}"#), Secret("name-of-it")])
        #expect(
            redactor.redact(["n": 12_345_678, "name-of-it": [1, true, nil]]) == ["n": "•••", "•••": [1, true, nil]]
        )
        #expect(redactor.redact(["account": ["private": "key"]]) == .string(#"{"account":•••}"#))
    }

    @Test func `secrets that are merely equivalent in Unicode are both found, and such names stay two`() {
        let redactor = Redactor([Secret("caf\u{E9}-letters")])
        redactor.add([Secret("cafe\u{301}-letters")])
        #expect(redactor.redact("caf\u{E9}-letters, cafe\u{301}-letters") == "•••, •••")
        let value: JSONValue = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(redactor.redact(value) == value)
        #expect(redactor.redact(value).object?.members.count == 2)
    }

    // Work that grows with the square of the length would take hours here.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["YWJj", "sk_live_", "%25", "\\\\", "\\163", "61", "0x73, ", "&amp;", "a\n", "sk_…", "abc..."]
    )
    func `a long text takes time in proportion to its length`(piece: String) {
        let redactor = Redactor([Secret("sk_live_sk_live_sk_live_x"), Secret("abcabcabcabc"), Secret("%%%%%%%y")])
        let text = String(repeating: piece, count: (100 << 10) / piece.utf8.count)
        #expect(redactor.redact(text + "sk_live_sk_live_sk_live_x").hasSuffix("•••"))
    }

    @Test func `any text can be redacted`() {
        var random = SeededGenerator(seed: 7)
        let redactor = Redactor([Secret("%41\\u"), Secret("++++"), Secret("\\\\\\\\"), Secret("ÿþ€😀")])
        let pieces = [
            "%", "\\", "u", "+", "4", "1", "\\u00", "\\ud83d\\ude00", "😀", "%zz", "%4", "=", "/", "ÿ", "x", "&#",
            "&amp;", ";",
            "\\u{", "}", "KysrKw==", "2b2B", "\r\n", "…", "...", "\u{0}",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let redacted = redactor.redact(text)
            #expect(!redacted.contains("%41\\u") && !redacted.contains("++++"))
        }
    }

    private func base64(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.enumerated().reduce(0) { $0 | Int($1.element) << (16 - 8 * $1.offset) }
            for index in 0..<4 { text += index <= group.count ? String(letters[bits >> (18 - 6 * index) & 63]) : "=" }
        }
        return text
    }

    @Test func `of a field whose secret always changes the last ones are removed, and of others every one`() {
        /// Tokens without a piece in common.
        func token(_ number: UInt32) -> String {
            String(repeating: Character(UnicodeScalar(0x4E00 + number) ?? "-"), count: 6)
        }
        let redactor = Redactor([Secret("of-the-file")])
        redactor.add([Secret("beside-it")])
        redactor.add(["key": Secret(token(0))], of: "slow")
        for number in UInt32(1)..<100 {
            redactor.add(["key": Secret(token(number)), "other": Secret("constant")], of: "gate")
            redactor.add(["key": Secret("still-in-use")], of: "gate")
        }
        let known = ["of-the-file", "beside-it", "still-in-use", "constant", token(0), token(85), token(99)]
        for text in known { #expect(redactor.redact("<\(text)>") == "<•••>", "\(text)") }
        #expect(redactor.redact("<\(token(50))>") == "<\(token(50))>")
        let other = Redactor()
        other.add(from: redactor)
        for text in known { #expect(other.redact("<\(text)>") == "<•••>", "\(text)") }
    }
}
