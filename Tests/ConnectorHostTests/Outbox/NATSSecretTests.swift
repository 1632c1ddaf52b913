// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorServices
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Secrets for NATS are in no fault, no error and no report.
@Suite struct NATSSecretTests {
    private static let token = "sesame-open-4711"

    private func reference(_ outbox: String, _ directory: String = ".") throws -> NATSReference {
        let configuration = try Configuration(
            parsing: #"{ "version": 1, "outbox": \#(outbox), "connectors": [] }"#,
            directory: directory,
            environment: Configuration.Environment(["TOKEN": Self.token, "PASSWORD": Self.token])
        )
        return try #require(configuration.servers)
    }

    @Test(arguments: [
        "nats://user:sesame@a:4222", "nats://sesame@a:4222", "nats://a:4222,nats://user:sesame@b", "user:sesame@a:4222",
        "tls://a:4222, nats://u:ses/sesame@b", "nats://${TOKEN}@a", "nats://u%40:sesame@a", "nats://a:4222/?x=sesame@b",
    ])
    func `credentials in the URL are refused with advice, and not shown`(_ url: String) {
        let error = #expect(throws: ConfigurationErrors.self) {
            try reference(#"{ "engine": "nats", "url": "\#(url)" }"#)
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("url contains a user, a password or a token"))
        #expect(text.contains(#""token": {"secret": "env:NATS_TOKEN"}"#))
        #expect(!text.contains("sesame"))
    }

    @Test func `a user and a password are given together, and the password by reference`() throws {
        let settings = try reference(
            #"{ "engine": "nats", "url": "nats://a", "user": "shop", "password": { "secret": "env:PASSWORD" } }"#
        ).resolved()
        #expect(settings.user == "shop" && settings.password == Self.token)
        for half in [
            #""user": "shop""#, #""password": { "secret": "env:PASSWORD" }"#, #""user": "u", "password": "sesame""#,
        ] {
            let error = #expect(throws: ConfigurationErrors.self) {
                try reference(#"{ "engine": "nats", "url": "nats://a", \#(half) }"#)
            }
            #expect(error.map { "\($0)".contains("sesame") } == false)
        }
    }

    @Test func `a file of credentials that others can read is refused, just as a secret's file is`() throws {
        try withTemporaryDirectory { directory in
            let outbox = #"{ "engine": "nats", "url": "nats://a", "credentials": "user.creds" }"#
            for mode: UInt32 in [0o644, 0o640, 0o604, 0o620, 0o601] {
                let path = try directory.write("user.creds", "seed", mode: mode)
                let error = #expect(throws: ConnectorError.self) {
                    try reference(outbox, directory.path).resolved()
                }
                #expect(error?.code == .secretUnavailable)
                #expect(error?.message.contains("mode \(String(mode, radix: 8))") == true, "\(error?.message ?? "")")
                #expect(error?.fix == "chmod 600 \(path)")
            }
            try directory.write("user.creds", "seed", mode: 0o600)
            #expect(try reference(outbox, directory.path).resolved().credentials == "\(directory.path)/user.creds")
            let absent = #expect(throws: ConnectorError.self) {
                try reference(#"{ "engine": "nats", "url": "nats://a", "credentials": "nothing" }"#).resolved()
            }
            #expect(absent?.message.contains("nothing") == true)
        }
    }

    @Test func `a client's key is read by its owner alone, has no passphrase, and is hidden`() throws {
        try withTemporaryDirectory { directory in
            let outbox = #"{ "engine": "nats", "url": "nats://a", "tls": { "cert": "cert.pem", "key": "key.pem" } }"#
            let line = "MHcCAQEEILRGMhBRlKco7kko45kGsWaPWa1bHVL0edoh3fqAhTet"
            func write(_ heading: String, mode: UInt32) throws {
                let text = "-----BEGIN \(heading)-----\n\(line)\n-----END \(heading)-----\n"
                try directory.write("key.pem", text, mode: mode)
            }
            try write("PRIVATE KEY", mode: 0o644)
            let open = #expect(throws: ConnectorError.self) { try reference(outbox, directory.path).resolved() }
            #expect(open?.code == .secretUnavailable)
            #expect(open?.fix == "chmod 600 \(directory.path)/key.pem")
            try write("ENCRYPTED PRIVATE KEY", mode: 0o600)
            let sealed = #expect(throws: ConnectorError.self) { try reference(outbox, directory.path).resolved() }
            #expect(sealed?.code == .secretUnavailable)
            #expect(sealed?.message.contains("passphrase") == true)
            try write("PRIVATE KEY", mode: 0o600)
            let redactor = Redactor()
            let settings = try reference(outbox, directory.path).resolved(hidingIn: redactor)
            #expect(settings.certificate == "\(directory.path)/cert.pem")
            #expect(settings.key == "\(directory.path)/key.pem")
            #expect(settings.usesTLS)
            #expect(redactor.redact("it was \(line).") == "it was •••.")
        }
    }

    @Test func `the lines of a file of credentials are secrets, and its headings are not`() throws {
        try withTemporaryDirectory { directory in
            let seed = "SUAGIEYODKBBTUMOB666Z5KA4FCWAZV7HWSGRHOD7MK6UM5IYLWLACH7DQ"
            try directory.write(
                "user.creds",
                "-----BEGIN USER NKEY SEED-----\n\(seed)\n------END USER NKEY SEED------\n",
                mode: 0o600
            )
            let redactor = Redactor()
            _ = try reference(#"{ "engine": "nats", "url": "nats://a", "credentials": "user.creds" }"#, directory.path)
                .resolved(hidingIn: redactor)
            #expect(redactor.redact("it was \(seed).") == "it was •••.")
            #expect(redactor.redact("-----BEGIN USER NKEY SEED-----") == "-----BEGIN USER NKEY SEED-----")
        }
    }

    @Test(
        .enabled(if: NATSEngine.libraryFailure == nil),
        arguments: ["the token \(token) is unknown", "\(token)", #"{\"auth_token\":\"\#(token)\"}"#]
    )
    func `a token that the server quotes is hidden`(_ words: String) async throws {
        let store = FakeJetStream([])
        // In its greeting, in an answer, and in what it says of a stream.
        for place in 0..<3 {
            var answers = FakeNATSServer.Answers()
            answers.welcome = { _ in place == 0 ? Array("-ERR '\(words)'\r\n".utf8) : [] }
            answers.answer = { request in
                let text = JSONValue.string(words)
                switch place {
                case 1:
                    let error: JSONValue = ["error": ["code": 500, "err_code": 1, "description": text]]
                    return request.message(error.utf8())
                case 2 where request.subject.contains("STREAM.INFO"):
                    return request.message((["config": ["subjects": [text]], "state": [:]] as JSONValue).utf8())
                default: return store.answer(request).flatMap(\.self)
                }
            }
            let server = try FakeNATSServer(answers)
            let reference = try reference(
                #"{ "engine": "nats", "url": "\#(server.url)", "token": { "secret": "env:TOKEN" } }"#
            )
            let redactor = Redactor()
            for migrates in [false, true] {
                let error = await #expect(throws: ConnectorError.self) {
                    let settings = try reference.resolved(hidingIn: redactor)
                    if migrates {
                        _ = try await NATSEngine.migrate(settings, paths: [], redact: redactor.redact)
                    } else {
                        _ = try await NATSEngine(
                            settings,
                            paths: [],
                            now: { Timestamp(nanoseconds: 0) },
                            redact: redactor.redact
                        )
                    }
                }
                let shown = "\(error.map { "\($0) \($0.message) \($0.cause ?? "") \($0.fix ?? "")" } ?? "")"
                #expect(!shown.isEmpty && !shown.contains(Self.token), "\(shown)")
                if place > 0 { #expect(shown.contains("•••"), "\(shown)") }
            }
            withExtendedLifetime(server) {}
        }
    }
}
