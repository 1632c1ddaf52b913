// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

@Suite struct SecretTests {
    @Test func `no way of printing a secret shows it`() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump([secret], to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)", dumped] {
            #expect(!text.contains("hunter2"))
            #expect(text.contains("•••"))
        }
        #expect(Mirror(reflecting: secret).children.allSatisfy { "\($0.value)" == "•••" })
        #expect(secret.reveal() == "hunter2")
    }

    @Test func `secrets that are merely equivalent in Unicode are distinct`() {
        #expect(Secret("\u{E9}") == Secret("\u{E9}") && Secret("\u{E9}") != Secret("e\u{301}"))
        #expect(Set([Secret("\u{E9}"), Secret("e\u{301}"), Secret("\u{E9}")]).count == 2)
    }

    @Test(arguments: [("key\n", "key"), ("key\r\n", "key"), ("key", "key"), ("a\nb\n\n", "a\nb\n"), (" k ", " k ")])
    func `a secret's file is its text without the last line break`(content: String, expected: String) throws {
        try withTemporaryDirectory { directory in
            try directory.write("key", content)
            let reference = SecretReference("file:key", base: BaseDirectory(directory.path))
            #expect(try reference?.secret(environment: .init([:])).reveal() == expected)
        }
    }

    @Test func `a secret's file that others can read is refused with the remedy`() throws {
        try withTemporaryDirectory { directory in
            for mode: UInt32 in [0o644, 0o640, 0o604, 0o620, 0o601] {
                let path = try directory.write("key", "value", mode: mode)
                #expect {
                    try SecretReference.file(path).secret(environment: .init([:]))
                } throws: { error in
                    "\(error)"
                        == "users other than the owner have access to the secret file \(path) (mode \(String(mode, radix: 8))) "
                        + "[secret-unavailable]; chmod 600 \(path)"
                }
            }
        }
    }

    @Test func `a secret's file must be there, a file, small, not empty, and text`() throws {
        try withTemporaryDirectory { directory in
            try directory.write("empty", "\n")
            try directory.write("binary", [0x41, 0x00, 0x42])
            try directory.write("latin", [0x41, 0xE4, 0x42])
            try directory.write("large", String(repeating: "x", count: SecretReference.sizeLimit + 1))
            for name in ["absent", ".", "empty", "binary", "latin", "large", "a\u{0}b"] {
                #expect {
                    try SecretReference.file("\(directory.path)/\(name)").secret(environment: .init([:]))
                } throws: { error in
                    (error as? ConnectorError)?.code == .secretUnavailable
                }
            }
        }
    }

    @Test(arguments: ["", "env:", "env:A B", "env:1", "file:", "vault:x", "KEY", "ENV:KEY"])
    func `a reference that names neither a variable nor a file is none`(text: String) {
        #expect(SecretReference(text, base: BaseDirectory(".")) == nil)
    }

    @Test func `an empty variable is not a secret`() {
        #expect {
            try SecretReference.environment("K").secret(environment: .init(["K": ""]))
        } throws: { error in
            (error as? ConnectorError)?.code == .secretUnavailable
        }
    }
}
