// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorDigest
import ConnectorTestSupport
import Testing

/// Signatures that minisign 0.11 made of the text "connector-host" and a line break.
@Suite struct MinisignTests {
    private static let content = Array("connector-host\n".utf8)
    private static let key = "RWTSp9xObBq8/k5RLU0nt9d0QzbHdsvkSgy6rz7doZ91NA6u/Po8wirW"
    private static let otherKey = "RWTR4GfL0s3r+4T8NP8P4/cmM62oLLohSdxgm1VUfzB0K7Nt8gr+hgVX"
    private static let legacy = """
        untrusted comment: signature from minisign secret key
        RWTSp9xObBq8/n0m4w7QvZBpKsrpKYAmlxooouZ613MKPb+hJe0sMrwJ+aFvCdkPDPnQWY5r6N8zavw9/3Ag5YNFxw/WOv528Qc=
        trusted comment: a legacy signature
        NWsT0lzOtFNiiZ2Lfl5S0HyMb3JO+/J8nBgwAsUMqlvZXcIfx88XrVGlxDHCaZr5CU7lY0JXFqYj0Hn2REWwBw==

        """
    private static let prehashed = """
        untrusted comment: signature from minisign secret key
        RUTSp9xObBq8/nMy9GwDJPlw//gKXXHaRHbOAS2el4ztieOy8nPCRBTQmXNkZu61YBiRquhYeXIAjHXMjIx4Mfzsk1BRAM+ZmQ4=
        trusted comment: a prehashed signature
        7qiSLAAs0IRF87/YVKa/oOXfxLr9t/+2itPh803EXBjkh/gCdFkXUU/V2o2g3p5erQ6DoOyaKHLdUeaKJu5ZAg==

        """

    private func isValid(_ text: String, _ content: [UInt8] = content, key: String = key) throws -> Bool {
        let key = try #require(MinisignKey(key))
        let signature = try MinisignSignature(parsing: Array(text.utf8), file: "a.minisig")
        return unsafe content.withUnsafeBytes { unsafe signature.verdict(for: $0, key) } == .valid
    }

    @Test(arguments: [legacy, prehashed])
    func `a signature is valid for its content and its key, and for nothing else`(_ text: String) throws {
        #expect(try isValid(text))
        #expect(try isValid(text.replacing("\n", with: "\r\n")))
        #expect(try !isValid(text, key: Self.otherKey))
        for index in Self.content.indices {
            var content = Self.content
            content[index] ^= 1
            #expect(try !isValid(text, content))
        }
        #expect(try !isValid(text, []))
        #expect(try !isValid(text, Self.content + [0]))
    }

    @Test(arguments: [legacy, prehashed])
    func `the trusted comment is signed, and the untrusted one is not`(_ text: String) throws {
        #expect(try !isValid(text.replacing("signature\n", with: "signature!\n")))
        #expect(try isValid(text.replacing("minisign secret", with: "any other")))
        let key = try #require(MinisignKey(Self.key))
        let changed = Array(text.replacing("signature\n", with: "signature!\n").utf8)
        let signature = try MinisignSignature(parsing: changed, file: "a.minisig")
        let verdicts = [Self.content, Self.content + [0]].map { content in
            unsafe content.withUnsafeBytes { unsafe signature.verdict(for: $0, key) }
        }
        #expect(verdicts == [.otherComment, .otherContent])
    }

    @Test func `any changed character of a signature makes it invalid or malformed`() throws {
        let lines = Self.prehashed.split(separator: "\n").map { Array(String($0).utf8) }
        for line in [1, 3] {
            for index in lines[line].indices where lines[line][index] != UInt8(ascii: "=") {
                var changed = lines
                changed[line][index] = changed[line][index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                let text = changed.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
                #expect((try? isValid(text)) != true, "line \(line + 1), character \(index + 1)")
            }
        }
    }

    @Test(arguments: [
        ("", 1), ("untrusted comment: a\n", 1), ("comment\nRW==\ntrusted comment: a\nAA==\n", 1),
        ("untrusted comment: a\nRWTS\ntrusted comment: a\nAA==\n", 2),
        (legacy.replacing("RWTS", with: "QWTS"), 2), (legacy.replacing("trusted comment: a", with: "comment: a"), 3),
        (legacy.replacing("NWsT", with: "!!!!"), 4), (legacy + "more\n", 5),
    ])
    func `the error of a malformed signature names its file and line`(_ text: String, _ line: Int) throws {
        let error = #expect(throws: ConnectorError.self) {
            try MinisignSignature(parsing: Array(text.utf8), file: "a.minisig")
        }
        #expect(error?.code == .syntax)
        #expect(error?.position == FilePosition(file: "a.minisig", line: line, column: 1))
    }

    @Test func `arbitrary bytes as a signature never trap`() {
        var generator = SeededGenerator(seed: 81)
        for _ in 0..<2_000 {
            var bytes = Array(Self.legacy.utf8)
            for _ in 0..<4 {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = try? MinisignSignature(parsing: bytes, file: "")
        }
    }

    @Test func `a key shows the id that minisign shows, and malformed keys are refused`() throws {
        #expect(try #require(MinisignKey(Self.key)).description == "FEBC1A6C4EDCA7D2")
        for text in [
            "", "RW", Self.key + "A", String(Self.key.dropLast()), "untrusted comment: a", "E" + Self.key.dropFirst(),
        ] {
            #expect(MinisignKey(text) == nil)
        }
    }

    @Test func `BLAKE2b computed in Swift equals what the library computes`() {
        for count in [0, 1, 127, 128, 129, 255, 256, 1000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            unsafe bytes.withUnsafeBytes { bytes in
                #expect(unsafe BLAKE2b.computed(of: bytes) == BLAKE2b.digest(of: bytes))
            }
        }
        // RFC 7693, appendix A.
        let digest = unsafe Array("abc".utf8).withUnsafeBytes { unsafe BLAKE2b.computed(of: $0) }
        #expect(digest.prefix(4) == [0xBA, 0x80, 0xA5, 0x3F])
    }
}
