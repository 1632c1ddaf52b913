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

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
            try directory.write("marked", [0xEF, 0xBB, 0xBF, 0x41])
            try directory.write("large", String(repeating: "x", count: SecretReference.sizeLimit + 1))
            for name in ["absent", ".", "empty", "binary", "latin", "marked", "large", "a\u{0}b"] {
                #expect {
                    try SecretReference.file("\(directory.path)/\(name)").secret(environment: .init([:]))
                } throws: { error in
                    (error as? ConnectorError)?.code == .secretUnavailable && (error as? ConnectorError)?.fix != nil
                }
            }
        }
    }

    @Test func `what is wrong with a credential is mended where systemd reads it`() throws {
        try withTemporaryDirectory { directory in
            try directory.write("empty", "\n")
            try directory.write("binary", [0x41, 0x00, 0x42])
            let environment = Configuration.Environment(["CREDENTIALS_DIRECTORY": directory.path])
            let faults = [("absent", "does not exist"), ("empty", "is empty"), ("binary", "contains a NUL byte")]
            for (name, words) in faults {
                let error = #expect(throws: ConnectorError.self) {
                    try SecretReference.credential(name).secret(environment: environment)
                }
                #expect(error?.message.contains(words) == true)
                #expect(error?.fix?.contains("LoadCredential=\(name):PATH") == true)
            }
        }
    }

    @Test func `a file that has grown since its size was looked up is read to its end`() throws {
        try withTemporaryDirectory { directory in
            func count(_ path: String, size: Int, limit: Int) throws -> Int {
                let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
                try #require(descriptor >= 0)
                defer { close(descriptor) }
                return try SmallFile.content(of: descriptor, expecting: size, limit: limit, path).count
            }
            let path = try directory.write("key", String(repeating: "k", count: 40))
            for size in [0, 10, 39, 40, 80] { #expect(try count(path, size: size, limit: 40) == 40) }
            for size in [0, 10, 39, 40, 80] {
                let error = #expect(throws: ConnectorError.self) { try count(path, size: size, limit: 39) }
                #expect(error?.code == .tooLarge)
            }
            let large = try directory.write("large", String(repeating: "k", count: 100 << 10))
            for size in [0, 10] { #expect(try count(large, size: size, limit: 1 << 20) == 100 << 10) }
        }
    }

    @Test(arguments: ["", "env:", "env:A B", "env:1", "file:", "vault:x", "KEY", "ENV:KEY"])
    func `a reference that names neither a variable nor a file is none`(text: String) {
        #expect(SecretReference(text, base: BaseDirectory(".")) == nil)
    }

    @Test(arguments: ["", "\u{FEFF}key"])
    func `a variable that is empty or begins with a byte order mark is not a secret`(_ value: String) {
        #expect {
            try SecretReference.environment("K").secret(environment: .init(["K": value]))
        } throws: { error in
            (error as? ConnectorError)?.code == .secretUnavailable && (error as? ConnectorError)?.fix != nil
        }
    }

    /// In a process of its own, because other tests read the environment.
    @Test func `a variable of this process that is not UTF-8 is not a secret`() async {
        await #expect(processExitsWith: .success) {
            let bytes = [0x41, 0xE4, 0x42, 0].map { CChar(truncatingIfNeeded: $0) }
            try #require(unsafe setenv("CONNECTOR_TEST_KEY", bytes, 1) == 0)
            let error = #expect(throws: ConnectorError.self) {
                try SecretReference.environment("CONNECTOR_TEST_KEY").secret(environment: .process)
            }
            #expect(error?.code == .secretUnavailable)
            #expect(error?.message.contains("is not UTF-8 text") == true)
        }
    }

    /// In a process of its own, because other tests read the environment.
    @Test func `a variable of this process that is not UTF-8 is neither a value of the file nor a path of the host`()
        async
    {
        await #expect(processExitsWith: .success) {
            let bytes = [0x2F, 0x78, 0xE4, 0].map { CChar(truncatingIfNeeded: $0) }
            try #require(unsafe setenv("CONNECTOR_PLUGIN_PATH", bytes, 1) == 0)
            let told = "the environment variable CONNECTOR_PLUGIN_PATH is not UTF-8 text"
            let text = #"{"version": 1, "plugins": ["${CONNECTOR_PLUGIN_PATH}"], "connectors": []}"#
            let value = #expect(throws: ConfigurationErrors.self) { try Configuration(parsing: text) }
            #expect(value?.errors.map(\.message) == [told])
            let options = ConnectorHost.Options(environment: .process, pluginDirectories: [])
            let source = ConfigurationSource(options)
            let empty = try Configuration(connectors: [])
            let path = #expect(throws: ConfigurationErrors.self) { _ = try source.resolve(empty) }
            #expect(path?.errors.map(\.message) == [told])
            #expect(options.environmentDirectories.isEmpty)
        }
    }
}
