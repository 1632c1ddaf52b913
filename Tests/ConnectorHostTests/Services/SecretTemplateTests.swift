// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The value behind `{{secret:…}}`, without any request.
@Suite struct SecretTemplateTests {
    private let secrets = ["key": "a b/\"\\\n+é", "user": "ann", "pass": "w:d", "endpoint url": "x"]

    private func expand(
        _ text: String,
        _ encoding: SecretTemplate.Encoding = .verbatim,
        limit: Int = 1 << 20,
        isStrict: Bool = false
    ) throws(ServiceFailure) -> String {
        let expansion = try SecretTemplate(Array(text.utf8))
            .expanded(encoding, limit: limit, isStrict: isStrict) { secrets[$0] }
        return String(decoding: expansion.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("{{secret:user}}", "ann"), ("a{{secret:user}}b", "aannb"),
        ("{{secret:user}}{{secret:user}}", "annann"), ("{{{secret:user}}}", "{ann}"),
        ("{{base64:{{secret:user}}:{{secret:pass}}}}", "YW5uOnc6ZA=="), ("{{base64:}}", ""), ("{{base64:a}}", "YQ=="),
        ("{{base64:ab}}", "YWI="), ("{{base64:abc}}", "YWJj"), ("{{base64:{{secret:key}}}}", "YSBiLyJcCivDqQ=="),
        ("{{base64:{a}b}}c", "e2F9Yg==c"), ("x{{base64:{{secret:user}}}}y", "xYW5uy"),
    ])
    func `placeholders are replaced by their values`(template: String, expected: String) throws {
        #expect(try expand(template) == expected)
    }

    @Test(arguments: [
        "{", "{{", "{{secret", "{{secret:", "{{secret:}}", "{{secret:user", "{{secret:user}", "{{secret:us{er}}",
        "{{ secret:user}}", "{{Secret:user}}", "{{other:user}}", "{{secret:nobody}}", "{{base64:abc", "{{base64:abc}",
        "{{secret:endpoint url}}", "}}", "{{secret:\(String(repeating: "n", count: 129))}}",
    ])
    func `text that is not a placeholder stays as it is`(text: String) throws {
        #expect(try expand(text) == text)
    }

    @Test(arguments: [
        ("{{sha256:}}", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("x{{sha256:{{secret:user}}}}y", "x49915e0d7d4b402e3017d010bc1c0e83cac6c797d6c16e66340fe3268693a6a1y"),
        (
            "{{hmac-sha256:Jefe|what do ya want for nothing?}}",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            "{{hmac-sha256:k{{secret:user}}|1|{{secret:pass}}|a{{sha256:|{{secret:user}}}}}}",
            "a566cb91fe009bc74ecac56c413b9c24263be38ae37880111dfb35aabe9c2958"
        ),
        ("{{hmac-sha256:|}}", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func `texts are signed and hashed`(template: String, expected: String) throws {
        #expect(try expand(template) == expected)
        #expect(try expand(template, .percent, isStrict: true) == expected)
    }

    @Test func `chained signatures give the signing key of AWS`() throws {
        // The example of the signing key in the documentation of Signature Version 4.
        let text = "{{hmac-sha256:AWS4{{secret:k}}|20150830|us-east-1|iam|aws4_request}}"
        let expansion = try SecretTemplate(Array(text.utf8)).expanded(.verbatim, limit: 100, isStrict: true) { _ in
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
        }
        #expect(expansion.containsSecret)
        #expect(
            String(decoding: expansion.bytes, as: UTF8.self)
                == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"
        )
    }

    @Test(arguments: ["{{hmac-sha256:key}}", "{{hmac-sha256:k\(String(repeating: "|x", count: 16))}}"])
    func `a chain without a text, or with too many texts, is an error where text must be exact`(text: String) throws {
        #expect(try expand(text) == text)
        let error = #expect(throws: ServiceFailure.self) { try expand(text, isStrict: true) }
        #expect(error?.status == Int32(CONNECTOR_INVALID))
        #expect(error?.message.contains("hmac-sha256") == true)
    }

    @Test(arguments: [
        "{{sha256:abc", "{{hmac-sha256:a|b", "{{hmac-sha256:a|{{sha256:b}}", "{{hmac-sha1:a|b}}", "{{sha256 :a}}",
    ])
    func `a function without an end is ordinary text`(text: String) throws {
        let start = text.contains("{{sha256:b}}") ? "{{hmac-sha256:a|" : text
        #expect(try expand(text).hasPrefix(start))
    }

    @Test func `a base64 inside another one is not replaced`() throws {
        #expect(try expand("{{base64:{{base64:a}}}}") == "e3tiYXNlNjQ6YQ==}}")
    }

    @Test func `a value is percent-encoded in a URL`() throws {
        #expect(try expand("/?k={{secret:key}}&x={y}", .percent) == "/?k=a%20b%2F%22%5C%0A%2B%C3%A9&x={y}")
        #expect(try expand("/{{base64:{{secret:user}}:}}", .percent) == "/YW5uOg%3D%3D")
    }

    @Test func `a value is escaped in JSON`() throws {
        #expect(try expand(#"{"k":"{{secret:key}}"}"#, .json) == #"{"k":"a b/\"\\\u000A+é"}"#)
    }

    @Test func `a value that looks like a placeholder is not replaced again`() throws {
        let expansion = try SecretTemplate(Array("{{secret:a}}".utf8))
            .expanded(.verbatim, limit: 100, isStrict: true) { _ in "{{secret:b}}" }
        #expect(String(decoding: expansion.bytes, as: UTF8.self) == "{{secret:b}}")
    }

    @Test func `an unknown name is an error where text must be exact`() {
        let error = #expect(throws: ServiceFailure.self) { try expand("{{secret:nobody}}", isStrict: true) }
        #expect(error?.status == Int32(CONNECTOR_INVALID))
        #expect(error?.message.contains("nobody") == true)
    }

    @Test func `an expansion says whether it contains a secret`() throws {
        func contains(_ text: String) throws -> Bool {
            try SecretTemplate(Array(text.utf8)).expanded(.verbatim, limit: 100, isStrict: false) { secrets[$0] }
                .containsSecret
        }
        #expect(try contains("{{secret:user}}"))
        #expect(try contains("{{base64:{{secret:user}}}}"))
        #expect(try !contains("{{base64:user}}"))
        #expect(try !contains("{{secret:nobody}}"))
    }

    @Test func `an expansion beyond the limit is too large`() throws {
        #expect(try expand("{{secret:user}}", limit: 3) == "ann")
        let error = #expect(throws: ServiceFailure.self) { try expand("{{secret:user}}", limit: 2) }
        #expect(error?.status == Int32(CONNECTOR_TOO_LARGE))
        #expect(throws: ServiceFailure.self) {
            try expand("{{base64:\(String(repeating: "{{secret:user}}", count: 100))}}", limit: 100)
        }
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "{", "{{secret:", "{{base64:", "{{base64:{{secret:", "{{secret:a}}", "{{base64:x}}", "}}", "{{sha256:",
            "{{hmac-sha256:", "{{hmac-sha256:a|{{sha256:", "{{hmac-sha256:a|{{sha256:b}}", "{{hmac-sha256:a}}",
        ]
    )
    func `the longest text takes no longer, whatever is in it`(piece: String) throws {
        // In quadratic time this would take minutes.
        let text = String(repeating: piece, count: (1 << 18) / piece.utf8.count)
        #expect(try !expand(text, limit: 1 << 24).isEmpty)
    }

    @Test func `bytes that are not UTF-8 pass`() throws {
        let bytes: [UInt8] = [0xFF, 0xFE] + Array("{{secret:user}}".utf8) + [0xC3]
        let expansion = try SecretTemplate(bytes).expanded(.json, limit: 100, isStrict: false) { secrets[$0] }
        #expect(expansion.bytes == [0xFF, 0xFE] + Array("ann".utf8) + [0xC3])
    }
}
