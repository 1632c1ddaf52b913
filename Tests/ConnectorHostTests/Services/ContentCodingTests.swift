// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

@Suite struct ContentCodingTests {
    /// `hello hello hello hello` as zlib and gzip write it, and without compression.
    private static let samples: [(ContentCoding, String)] = [
        (.gzip, "H4sIAAAAAAACA8tIzcnJV8hAJwHjUT2NFwAAAA=="),
        (.deflate, "eJzLSM3JyVfIQCcBaAMIsQ=="),
        (.deflate, "y0jNyclXyEAnAQ=="),
        (.gzip, "H4sIAAAAAAAEAwEXAOj/aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG/jUT2NFwAAAA=="),
    ]

    @Test(arguments: samples)
    func `compressed bytes are read`(coding: ContentCoding, text: String) throws {
        let bytes = try #require(Base64.decode(text))
        let decoded = try coding.decode(bytes, limit: 100)
        #expect(String(decoding: decoded, as: UTF8.self) == "hello hello hello hello")
    }

    @Test func `a block with codes of its own is read`() throws {
        let lines = [
            "H4sIAAAAAAACA53WwU7DMAyA4Vepep6s2E7imDsHngFxmKAHBGLTVpAQ2ruzcirEMlZ3inL4oyX52t5/jfPncRpvhnE+7R9f",
            "xt0wTh/T27zM3C6DIS1z7+fpdPe0TC6jn6nj6XCcTvPzdL5OXzOHef96HSVIl8tu+L+LfVdRnTICSyxNfbpxc9IEkmNp7tNS",
            "xElnQIylc5+uUp10gdxi6dKnixYnXaGVtP6V2ELVWAizs1ADolha+nRmdtIKRWPp1qe5kHcVE2iNtbVvk6DXJmBeb31wf9CA",
            "iupRRQb5dcjBi4oGXUwu3QIpaBcNvOTZxQo5iBcNvZo9vSjQcMthGJhb9TCjAgY1o8FZmseZEpSgYDQIS/IIE4JGt8VAXMlD",
            "TAyk6wPg4EqG6ZI905Sh1vVK0UtlCM/VE04Von+DDNTcPNQkkNOGG0sGalIPNTUQ2XA0ZAlHjzgnwOBpkEEc2SPOCCX44CND",
            "dfFQM0ELoiYDtYqHmjNQEDUZqJt6qLlApQ0fAGQIb+gJ5woafE+TgVrYQ80NOPiiJsNxLZ5jVhD+88R4+Ab0JR9+UgsAAA==",
        ]
        let bytes = try #require(Base64.decode(lines.joined()))
        let decoded = try ContentCoding.gzip.decode(bytes, limit: 10_000)
        let events = try JSONValue(parsing: decoded)
        #expect(decoded.count == 2898)
        #expect(events[29]?["event"] == "Event 29")
    }

    @Test func `members of a file follow each other`() throws {
        let one = try #require(Base64.decode("H4sIAAAAAAACA8tIzcnJV8hAJwHjUT2NFwAAAA=="))
        let decoded = try ContentCoding.gzip.decode(one + one, limit: 100)
        #expect(decoded.count == 46)
    }

    @Test(arguments: [1, 5, 6]) func `a body has at most five codings`(count: Int) throws {
        var body = Array("hello".utf8)
        for _ in 1...count { body = try Gzip.compress(body) }
        let names = Array(repeating: "gzip", count: count).joined(separator: ", ")
        let response = HTTPResponse(status: 200, headers: ["Content-Encoding": names], body: body)
        guard count > 5 else {
            #expect(try response.decoded(limit: 1000).body == Array("hello".utf8))
            return
        }
        let failure = #expect(throws: ServiceFailure.self) { try response.decoded(limit: 1000) }
        #expect(failure?.code == .protocolViolation)
        #expect(failure?.message == "the response's body has more than 5 content codings")
    }

    @Test(arguments: [[0], [0x1F], Array("trailer".utf8), Array(repeating: 0, count: 512)])
    func `bytes after the last member are ignored`(rest: [UInt8]) throws {
        let one = try #require(Base64.decode("H4sIAAAAAAACA8tIzcnJV8hAJwHjUT2NFwAAAA=="))
        #expect(try ContentCoding.gzip.decode(one + rest, limit: 100).count == 23)
    }

    @Test func `output beyond the limit is refused before it is stored`() throws {
        let bytes = try #require(Base64.decode("H4sIAAAAAAACA8tIzcnJV8hAJwHjUT2NFwAAAA=="))
        #expect(throws: InflateError.tooLarge) { try ContentCoding.gzip.decode(bytes, limit: 10) }
        #expect(throws: InflateError.tooLarge) { try ContentCoding.gzip.decode(bytes, limit: 22) }
        #expect(throws: InflateError.tooLarge) { try ContentCoding.gzip.decode(bytes + bytes, limit: 45) }
    }

    @Test func `every truncation is an error, and every changed bit an error or the same text`() throws {
        let bytes = try #require(Base64.decode("H4sIAAAAAAACA8tIzcnJV8hAJwHjUT2NFwAAAA=="))
        let expected = try ContentCoding.gzip.decode(bytes, limit: 100)
        for count in 0..<bytes.count {
            #expect(throws: InflateError.self) { try ContentCoding.gzip.decode(Array(bytes.prefix(count)), limit: 100) }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                // Some bytes of the header mean nothing, such as the time.
                if let decoded = try? ContentCoding.gzip.decode(changed, limit: 100) { #expect(decoded == expected) }
            }
        }
    }

    @Test(.enabled(if: BrotliDecoder.installed != nil, "libbrotli1 is not installed"))
    func `a brotli body is read up to the limit, and one that is cut is an error`() throws {
        let text = try #require(Base64.decode("GxYA+I2Ubt5EVYaWbCBvIU8c4Dg="))
        #expect(try ContentCoding.brotli.decode(text + [0, 1], limit: 23) == Array("hello hello hello hello".utf8))
        #expect(throws: InflateError.tooLarge) { try ContentCoding.brotli.decode(text, limit: 22) }
        for count in text.indices {
            let part = Array(text.prefix(count))
            #expect(throws: InflateError.truncated) { try ContentCoding.brotli.decode(part, limit: 100) }
        }
        // A million times "a".
        let bomb = try #require(Base64.decode("Wz9Cj18iLB4LBPJzHgA="))
        #expect(try ContentCoding.brotli.decode(bomb, limit: 1_000_000).count == 1_000_000)
        #expect(throws: InflateError.tooLarge) { try ContentCoding.brotli.decode(bomb, limit: 999_999) }
        #expect(throws: InflateError.corrupt) { try ContentCoding.brotli.decode([0xFF] + text, limit: 100) }
    }

    @Test func `random bytes never trap`() {
        var generator = SeededGenerator(seed: 1)
        var failures = 0
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<200, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            if (try? ContentCoding.deflate.decode(bytes, limit: 1000)) == nil { failures += 1 }
        }
        #expect(failures > 0)
    }

    @Test(arguments: [("br", nil), ("GZIP", ContentCoding.gzip), ("x-gzip", .gzip), ("identity", .identity)])
    func `names of codings are recognised`(name: String, coding: ContentCoding?) {
        #expect(ContentCoding(name: name) == coding)
    }
}
