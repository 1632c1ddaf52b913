// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Servers that refuse to create streams and consumers.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSMigrationTests {
    /// Why streams and consumers for `a` and `b` cannot be made; nil if they can.
    private func migrationFailure(_ log: RequestLog, _ answer: @escaping SteeredAnswer) async throws -> ConnectorError?
    {
        let store = FakeJetStream(["a"])
        var answers = FakeNATSServer.Answers()
        answers.answer = { request in
            log.add(request)
            return answer(request) ?? Array(store.answer(request).joined())
        }
        let server = try FakeNATSServer(answers)
        defer { withExtendedLifetime(server) {} }
        do throws(ConnectorError) {
            _ = try await NATSEngine.migrate(NATSSettings(url: server.url), paths: ["a", "b"])
            return nil
        } catch {
            return error
        }
    }

    @Test func `a migration that fails says what it has done, and that it can be repeated`() async throws {
        let error = try await migrationFailure(RequestLog()) { request in
            if request.subject.contains(".STREAM.INFO.") { return request.refusal(404, 10_059, "stream not found") }
            guard request.subject.contains(".CONSUMER.DURABLE.CREATE.") else { return nil }
            return request.refusal(400, 10_026, "maximum consumers limit reached")
        }
        #expect(error?.message.contains("maximum consumers limit reached") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("created the stream OUTBOX, created the stream OUTBOX-dead") == true)
        #expect(error?.fix?.contains("limits of the account") == true)
        #expect(error?.fix?.contains("makes only what is missing") == true)
    }

    @Test func `a consumer of another program that has a connector's name is left as it is`() async throws {
        let log = RequestLog()
        let error = try await migrationFailure(log) { request in
            guard request.subject.contains(".CONSUMER.INFO.") else { return nil }
            return request.message(Array(#"{"config":{"durable_name":"b","filter_subject":"OUTBOX.e.1.>"}}"#.utf8))
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("the consumer b exists") == true, "\(error?.message ?? "")")
        #expect(error?.fix?.contains("description") == true)
        #expect(log.subjects("$JS.API.CONSUMER.DURABLE.CREATE.").isEmpty)
    }

    @Test(arguments: [10_002, 10_026, 10_027] as [Int64])
    func `that an account may have no more streams or consumers is said with a remedy`(_ number: Int64) async throws {
        try await NATSEngine.withFake { engine, _ in
            let refusal = JetStream.Refusal(code: 400, number: number, description: "limit reached")
            #expect(engine.jetStream.error(refusal).fix?.contains("account") == true)
        }
    }
}
