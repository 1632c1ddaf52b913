// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Connections that servers refuse or end, and the credentials that they ask for.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSConnectingTests {
    @Test(arguments: ["tls://", "TLS://", "nats://127.0.0.1:1, tls://"])
    func `a server that offers no encryption is told nothing if a URL asks for it`(_ scheme: String) async throws {
        let connects = Mutex<[String]>([])
        var answers = FakeNATSServer.Answers()
        answers.welcome = { line in
            connects.withLock { $0.append(line) }
            return []
        }
        let server = try FakeNATSServer(answers)
        let settings = NATSSettings(url: "\(scheme)127.0.0.1:\(server.port)", token: "sesame")
        let error = await #expect(throws: ConnectorError.self) {
            try await NATSConnection.connect(settings, renewed: { settings })
        }
        #expect(error?.code == .storage)
        #expect(connects.withLock(\.self) == [])
        withExtendedLifetime(server) {}
    }

    @Test func `without encryption at the server, the error says what to change there`() async throws {
        let server = try FakeNATSServer(FakeNATSServer.Answers())
        let settings = NATSSettings(url: server.url, isEncrypted: true)
        let error = await #expect(throws: ConnectorError.self) {
            try await NATSConnection.connect(settings, renewed: { settings })
        }
        #expect(error?.fix?.contains("without allow_non_tls") == true, "\(error?.fix ?? "")")
        withExtendedLifetime(server) {}
    }

    @Test func `a server that does not answer in time is an error that names the limit`() async throws {
        var answers = FakeNATSServer.Answers()
        answers.greeting = { [] }
        let server = try FakeNATSServer(answers)
        var settings = NATSSettings(url: server.url)
        settings.waits.connection = 50_000_000
        let late = settings
        let error = await #expect(throws: ConnectorError.self) {
            try await NATSConnection.connect(late, renewed: { late })
        }
        let (message, fix) = (error?.message ?? "", error?.fix ?? "")
        #expect(message.hasSuffix("accepts the connection within 50 ms: Timeout"), "\(message)")
        #expect(fix.contains("may take 50 ms, which cannot be changed"), "\(fix)")
        #expect(error?.isRetryable == true)
        withExtendedLifetime(server) {}
    }

    @Test func `a connection that the client library gives up is closed although the system has no more threads`()
        async throws
    {
        var answers = FakeNATSServer.Answers()
        answers.answer = { _ in Array("-ERR 'Permissions Violation for Subscription to \"_INBOX.1.*\"'\r\n".utf8) }
        let server = try FakeNATSServer(answers)
        let settings = NATSSettings(url: server.url)
        let isRefusing = Mutex(false)
        let make: HostThread.Make = { name, body in !isRefusing.withLock(\.self) && HostThread.start(name, body) }
        let connection = try await NATSConnection.connect(settings, renewed: { settings }, makeThread: make)
        let end = connection.state.withLock { $0.library?.ended }
        let ended = try #require(end)
        isRefusing.withLock { $0 = true }
        try connection.send([], to: "somewhere")
        await ended.wait()
        await connection.close()
        withExtendedLifetime(server) {}
    }

    @Test func `a connection that cannot have a thread to close it is refused, and ended`() async throws {
        let server = try FakeNATSServer(FakeNATSServer.Answers())
        let settings = NATSSettings(url: server.url)
        let left = Mutex(1)
        let make: HostThread.Make = { name, body in
            let isGiven = left.withLock { left in
                left -= 1
                return left >= 0
            }
            return isGiven && HostThread.start(name, body)
        }
        let error = await #expect(throws: ConnectorError.self) {
            try await NATSConnection.connect(settings, renewed: { settings }, makeThread: make)
        }
        #expect(error?.message.contains("cannot create a thread") == true, "\(error?.message ?? "")")
        #expect(error?.isRetryable == true)
        withExtendedLifetime(server) {}
    }

    @Test func `a connection that may receive nothing is made anew until it may`() async throws {
        let isDenied = Mutex(false)
        let answer: SteeredAnswer = { _ in
            guard isDenied.withLock(\.self) else { return nil }
            return Array("-ERR 'Permissions Violation for Subscription to \"_INBOX.1.*\"'\r\n".utf8)
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            isDenied.withLock { $0 = true }
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(2)], to: ["a"])
            }
            #expect(error?.message.contains("Permissions Violation for Subscription") == true)
            isDenied.withLock { $0 = false }
            let clock = engine.jetStream.clock
            var isStored = false
            while !isStored {
                do throws(ConnectorError) {
                    isStored = try await engine.append([.numbered(3)], to: ["a"]).isApplied == [true]
                } catch {
                    try #require(error.message.contains("Permissions Violation"))
                    _ = await OneShot<Void>().wait(by: clock.now() + 20_000_000, on: clock)
                }
            }
        }
    }

    @Test func `attempts that servers refuse come ever less often, until something else is tried or has worked`() throws
    {
        typealias Attempt = NATSConnection.Attempt
        let second: UInt64 = 1_000_000_000
        let access = NATSConnection.Access(NATSSettings(url: "nats://a"))
        let other = NATSConnection.Access(NATSSettings(url: "nats://a", token: "sesame"))
        var last = try #require(Attempt.next(after: nil, access, at: 100 * second, arrival: 0))
        var pauses = [last.pause]
        for _ in 1...6 {
            let due = last.time + last.pause
            #expect(Attempt.next(after: last, access, at: due - 1, arrival: 0) == nil)
            last = try #require(Attempt.next(after: last, access, at: due, arrival: 0))
            pauses.append(last.pause)
        }
        #expect(pauses.map { $0 / 250_000_000 } == [1, 2, 4, 8, 16, 20, 20])
        #expect(Attempt.next(after: last, other, at: last.time + 1, arrival: 0)?.pause == pauses[0])
        #expect(Attempt.next(after: last, access, at: last.time + 1, arrival: last.time + 1)?.pause == pauses[0])
    }

    @Test(arguments: ["\n", "\r\n", "\r\n\r\n"])
    func `a JWT and a seed are found between lines of dashes, whatever ends a line`(_ end: String) throws {
        let lines = [
            "\u{FEFF}-----BEGIN NATS USER JWT-----", "e.J-.w", "------END NATS USER JWT------", "A note.",
            "-----BEGIN USER NKEY SEED-----", "SUAX", "------END USER NKEY SEED------",
        ]
        let credentials = try #require(NATSCredentials(parsing: lines.joined(separator: end)))
        #expect(credentials.jwt == "e.J-.w")
        #expect(credentials.seed == "SUAX")
        for count in 0..<lines.count {
            #expect(NATSCredentials(parsing: lines.prefix(count).joined(separator: end)) == nil)
        }
        #expect(NATSCredentials(parsing: lines.dropFirst(3).joined(separator: end)) == nil)
    }

    @Test func `a file of credentials says when they expire`() {
        func expiry(_ claims: String) -> Timestamp? {
            let parts = ["{}", claims, "?"].map { text -> String in
                let letters = Base64.encode(Array(text.utf8)).map { letter -> Character in
                    switch letter {
                    case "+": "-"
                    case "/": "_"
                    default: letter
                    }
                }
                return String(letters.filter { $0 != "=" })
            }
            let token = parts.joined(separator: ".")
            let lines = ["-----BEGIN-----", token, "------END------", "-----BEGIN-----", "SUAX", "------END------"]
            return NATSCredentials(parsing: lines.joined(separator: "\r\n"))?.expiry
        }
        #expect(expiry(#"{"exp":1767225600,"name":"~?~>"}"#) == OutboxEvent.start)
        #expect(expiry(#"{"name":"u"}"#) == nil)
        #expect(expiry(#"{"exp":9223372036854775807}"#) == nil)
        #expect(expiry("{") == nil)
    }
}
