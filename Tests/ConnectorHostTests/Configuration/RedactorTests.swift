// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
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
        (#"p"a/s s+w&ö\%"#, #"p"a/s s+w&ö\%"#),
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

    @Test func `short values would take words apart`() {
        let redactor = Redactor([Secret("a"), Secret(""), Secret("abc")])
        #expect(redactor.isEmpty)
        #expect(redactor.redact("abc") == "abc")
    }

    @Test func `any text can be redacted`() {
        var random = SplitMix(state: 7)
        let redactor = Redactor([Secret("%41\\u"), Secret("++++"), Secret("\\\\\\\\"), Secret("ÿþ€😀")])
        let pieces = ["%", "\\", "u", "+", "4", "1", "\\u00", "\\ud83d\\ude00", "😀", "%zz", "%4", "=", "/", "ÿ", "x"]
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
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
