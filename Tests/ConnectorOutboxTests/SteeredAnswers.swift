// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorTestSupport
import Synchronization

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// What a NATS server answers instead of ``FakeJetStream``; nil for what that answers.
typealias SteeredAnswer = @Sendable (FakeNATSServer.Request) -> [UInt8]?

/// What a server was asked, in order of arrival.
final class RequestLog: Sendable {
    private let requests = Mutex<[FakeNATSServer.Request]>([])

    func add(_ request: FakeNATSServer.Request) { requests.withLock { $0.append(request) } }

    /// The subjects that begin with a text, only of messages with the given content, if any.
    func subjects(_ start: String, _ content: String? = nil) -> [String] {
        requests.withLock { requests in
            requests.filter { request in
                request.subject.hasPrefix(start) && content.map { request.payload == Array($0.utf8) } ?? true
            }
            .map(\.subject)
        }
    }
}

extension NATSEngine {
    /// Opens an engine on a server that answers as the test says, and closes it after the body.
    ///
    /// - Parameters:
    ///   - waits: The engine's timeouts.
    ///   - maximum: The largest message that the server takes, in bytes.
    ///   - onTrim: Called when settled events can no longer be deleted, and once they can again.
    static func withFake(
        waits: NATSSettings.Waits = NATSSettings.Waits(),
        maximum: Int = 1_048_576,
        onTrim: @escaping @Sendable (ConnectorError?) -> Void = { _ in },
        _ answer: @escaping SteeredAnswer = { _ in nil },
        _ body: (NATSEngine, RequestLog) async throws -> Void
    ) async throws {
        let (store, log) = (FakeJetStream(["a", "b"]), RequestLog())
        var answers = FakeNATSServer.Answers()
        answers.greeting = {
            let greeting = #"{"server_id":"F","version":"2.10.0","proto":1,"headers":true,"max_payload":\#(maximum)}"#
            return Array("INFO \(greeting)\r\n".utf8)
        }
        answers.answer = { request in
            log.add(request)
            return answer(request) ?? Array(store.answer(request).joined())
        }
        let server = try FakeNATSServer(answers)
        var settings = NATSSettings(url: server.url)
        settings.waits = waits
        let paths = ["a", "b"]
        let engine = try await NATSEngine(settings, paths: paths, now: { OutboxEvent.start }, onTrim: onTrim)
        try await body(engine, log)
        await engine.close()
        withExtendedLifetime(server) {}
    }
}

extension NATSSettings.Waits {
    /// The timeouts of tests that wait until one expires.
    static var brief: NATSSettings.Waits {
        var waits = NATSSettings.Waits()
        (waits.pause, waits.limit) = (2_000_000, 1_000_000_000)
        return waits
    }
}

extension FakeNATSServer.Request {
    /// Whether it stores an event.
    var isEvent: Bool { subject.hasPrefix("OUTBOX.e.") }

    /// What a server says whose user may not send it.
    var denial: [UInt8] { Array("-ERR 'Permissions Violation for Publish to \"\(subject)\"'\r\n".utf8) }

    /// An answer that refuses it.
    func refusal(_ code: Int, _ number: Int, _ words: String) -> [UInt8] {
        message(Array(#"{"error":{"code":\#(code),"err_code":\#(number),"description":"\#(words)"}}"#.utf8))
    }
}
