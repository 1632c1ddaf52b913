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

/// Servers that accept a connection, and do not finish the handshake. The client library ends such an attempt itself from 3.8 on, and
/// with TLS from 3.11 on; before, it ends when the server does.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSHandshakeTests {
    /// What a server leaves unanswered.
    enum Silence: CaseIterable {
        case ping, encryption
    }

    /// Counts what happens at a server.
    private final class Count: Sendable {
        private let count = Mutex(0)

        /// The number of the event, from 1.
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// What errors say: the host's own, and those of libraries that end an attempt themselves.
    private static let signs = ["has not finished the handshake within 100 ms", "accepts the connection within 50 ms"]

    private static func isOverdue(_ error: ConnectorError?) -> Bool {
        signs.contains { error?.message.contains($0) == true }
    }

    /// The first line of a server that requires encryption.
    private static let encrypted = Array(
        "INFO {\"server_id\":\"F\",\"version\":\"2.10.0\",\"proto\":1,\"headers\":true,\"tls_required\":true}\r\n".utf8
    )

    private func answers(_ silence: Silence) -> FakeNATSServer.Answers {
        var answers = FakeNATSServer.Answers()
        switch silence {
        case .ping: answers.pong = { [] }
        case .encryption: answers.greeting = { Self.encrypted }
        }
        return answers
    }

    private func settings(_ url: String) -> NATSSettings {
        var settings = NATSSettings(url: url)
        (settings.waits.connection, settings.waits.excess) = (50_000_000, 50_000_000)
        return settings
    }

    /// Connects and closes; returns the error, if any.
    private func failure(_ settings: NATSSettings) async -> ConnectorError? {
        do throws(ConnectorError) {
            let connection = try await NATSConnection.connect(settings, renewed: { settings })
            await connection.close()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: Silence.allCases)
    func `a server that never finishes the handshake is an error, and no wait without end`(
        _ silence: Silence
    ) async throws {
        let server = try FakeNATSServer(answers(silence))
        let error = await failure(settings(server.url))
        #expect(error?.code == .storage)
        #expect(error?.isRetryable == true)
        #expect(Self.isOverdue(error), "\(error?.message ?? "")")
        withExtendedLifetime(server) {}
    }

    @Test func `each server of the list adds to the time that connecting may take`() {
        #expect(settings("nats://a").connectingLimit == 100_000_000)
        #expect(settings("nats://a:4222,nats://b:4222, nats://c:4222").connectingLimit == 200_000_000)
    }

    @Test func `while an attempt is stuck, no other begins at the same servers, until that connection has ended`()
        async throws
    {
        let greetings = Count()
        var answers = answers(.encryption)
        answers.greeting = {
            _ = greetings.next()
            return Self.encrypted
        }
        var server: FakeNATSServer? = try FakeNATSServer(answers)
        let settings = settings(try #require(server?.url))
        let first = await failure(settings)
        // Libraries that end it themselves are not stuck.
        guard first?.message.contains("handshake within") == true else { return }
        var other = settings
        other.token = "sesame"
        for settings in [settings, other] {
            let error = await failure(settings)
            #expect(error?.message == first?.message)
        }
        #expect(greetings.next() == 2)
        withExtendedLifetime(server) {}
        server = nil
        while await failure(settings)?.message == first?.message { try await Task.checkedYield() }
    }

    @Test func `connecting ends when its task is cancelled, and a connection that comes later is closed`()
        async throws
    {
        let (asked, ended, isLet) = (OneShot<Void>(), OneShot<Void>(), Monitor(false))
        var answers = FakeNATSServer.Answers()
        answers.pong = {
            asked.send()
            isLet.wait { $0 ? Monitor<Bool>.Step<Void>.proceed(()) : .wait(until: nil) }
            return Array("PONG\r\n".utf8)
        }
        answers.end = { ended.send() }
        let server = try FakeNATSServer(answers)
        let settings = NATSSettings(url: server.url)
        let connecting = Task { await failure(settings) }
        await asked.wait()
        connecting.cancel()
        let error = await connecting.value
        #expect(error?.code == .cancelled)
        isLet.withLock { $0 = true }
        isLet.signal()
        await ended.wait()
        withExtendedLifetime(server) {}
    }

    @Test func `closing does not wait for a library that is stuck while it reconnects by itself`() async throws {
        let (welcomes, stuck) = (Count(), OneShot<Void>())
        var answers = FakeNATSServer.Answers()
        answers.welcome = { _ in
            if welcomes.next() > 1 { stuck.send() }
            return []
        }
        answers.pong = { stuck.value == nil ? Array("PONG\r\n".utf8) : [] }
        answers.answer = { _ in Array("-ERR 'Stale Connection'\r\n".utf8) }
        let server = try FakeNATSServer(answers)
        var settings = NATSSettings(url: server.url)
        settings.waits.closing = 50_000_000
        let connection = try await NATSConnection.connect(settings, renewed: { [settings] in settings })
        try connection.send([], to: "somewhere")
        await stuck.wait()
        await connection.releaseAll(["$JS.ACK.OUTBOX.a.1.1.1.1767225600000000000.0"])
        await connection.close()
        withExtendedLifetime(server) {}
    }

    @Test func `requests fail with the reason while connecting anew is stuck, and closing does not wait for it`()
        async throws
    {
        let greetings = Count()
        var answers = FakeNATSServer.Answers()
        let first = answers.greeting
        answers.greeting = { greetings.next() == 1 ? first() : Self.encrypted }
        answers.answer = { _ in Array("-ERR 'Permissions Violation for Subscription to \"_INBOX.1.*\"'\r\n".utf8) }
        let server = try FakeNATSServer(answers)
        let brief = settings(server.url)
        let connection = try await NATSConnection.connect(NATSSettings(url: server.url), renewed: { brief })
        var failure: ConnectorError?
        while !Self.isOverdue(failure) {
            do throws(ConnectorError) {
                try connection.send([], to: "somewhere")
            } catch {
                failure = error
            }
            try await Task.checkedYield()
        }
        await connection.close()
        withExtendedLifetime(server) {}
    }
}
