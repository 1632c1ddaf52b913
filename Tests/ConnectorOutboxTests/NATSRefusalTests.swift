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

/// Servers that refuse to store, to lease or to settle events.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSRefusalTests {
    // MARK: Storing

    @Test(arguments: [10_023, 10_077])
    func `a full stream refuses an event at once, in the server's words`(_ number: Int) async throws {
        let answer: SteeredAnswer = { request in
            request.isEvent ? request.refusal(503, number, "maximum bytes exceeded") : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.message.contains("maximum bytes exceeded") == true)
            #expect(error?.fix?.contains("max_bytes") == true)
            #expect(log.subjects("OUTBOX.e.").count == 2, "once more after a look for what is settled")
        }
    }

    @Test func `an event has room in a stream that another host has emptied meanwhile`() async throws {
        let isFull = Mutex(true)
        let answer: SteeredAnswer = { request in
            guard request.isEvent else { return nil }
            let isRefused = isFull.withLock { isFull in
                defer { isFull = false }
                return isFull
            }
            return isRefused ? request.refusal(503, 10_077, "maximum bytes exceeded") : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let step = try await engine.append([.numbered(1)], to: ["a"])
            #expect(step.isApplied == [true])
            #expect(log.subjects("OUTBOX.e.").count == 2)
            #expect(log.subjects("$JS.API.STREAM.MSG.DELETE.").isEmpty)
        }
    }

    @Test(arguments: [1, 2])
    func `the server's last words are the cause if it could not store anything in time`(count: Int) async throws {
        let answer: SteeredAnswer = { request in
            request.isEvent ? request.refusal(503, 10_008, "temporarily unavailable") : nil
        }
        try await NATSEngine.withFake(waits: .brief, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append((1...count).map { .numbered($0) }, to: ["a"])
            }
            #expect(error?.code == .storage && error?.isRetryable == true)
            #expect(error?.cause == "temporarily unavailable")
        }
    }

    @Test func `a permission that the user lacks is the cause if nothing answers`() async throws {
        let answer: SteeredAnswer = { request in
            request.isEvent ? request.denial : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.message.contains("Permissions Violation for Publish to \"OUTBOX.e.1.x\"") == true)
            #expect(error?.fix?.contains("grant") == true)
            #expect(log.subjects("OUTBOX.e.").count == 1)
        }
    }

    @Test func `that settled events cannot be deleted is known after one request, and soon that they can be again`()
        async throws
    {
        let step = Mutex(0)
        let told = Mutex<[String?]>([])
        let answer: SteeredAnswer = { request in
            let current = step.withLock(\.self)
            // Nothing waits.
            if current > 0, request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") {
                return request.message(Array(#"{"total":0,"consumers":[]}"#.utf8))
            }
            guard current == 1 else { return nil }
            if request.subject.hasPrefix("$JS.API.STREAM.MSG.DELETE.") { return request.denial }
            return request.isEvent ? request.refusal(503, 10_077, "maximum bytes exceeded") : nil
        }
        let onTrim: @Sendable (ConnectorError?) -> Void = { error in told.withLock { $0.append(error?.message) } }
        try await NATSEngine.withFake(onTrim: onTrim, answer) { engine, log in
            _ = try await engine.append((1...3).map { .numbered($0) }, to: ["a"])
            step.withLock { $0 = 1 }
            await #expect(throws: ConnectorError.self) { try await engine.append([.numbered(4)], to: ["a"]) }
            let words = told.withLock(\.self)
            #expect(words.count == 1)
            #expect(words.first??.contains("$JS.API.STREAM.MSG.DELETE.OUTBOX") == true)
            #expect(log.subjects("$JS.API.STREAM.MSG.DELETE.").count == 1)
            step.withLock { $0 = 2 }
            // Nothing more is sent: the looks alone try again.
            while told.withLock(\.count) < 2 {
                try await engine.check(["a"])
                await Task.yield()
            }
            let areGone = told.withLock { told in told.map { $0 == nil } }
            #expect(areGone == [false, true])
            #expect(log.subjects("$JS.API.STREAM.MSG.DELETE.").count == 4)
        }
    }

    @Test func `a leaf node without JetStream is told what it lacks`() async throws {
        let answer: SteeredAnswer = { request in
            request.isEvent ? request.message([], headers: "NATS/1.0 503") : nil
        }
        try await NATSEngine.withFake(waits: .brief, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.message.contains("no NATS server offers JetStream") == true, "\(error?.message ?? "")")
            #expect(error?.fix?.contains("domains are not supported") == true)
        }
    }

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

    /// Why a connector gets no batch; nil if it gets one.
    private func failure(_ engine: NATSEngine, _ path: String) async -> ConnectorError? {
        do throws(ConnectorError) {
            _ = try await engine.batch(for: path, upTo: BatchLimits(), now: OutboxEvent.start)
            return nil
        } catch {
            return error
        }
    }

    @Test func `each connector is told at once what the user may not do for it, and not what it may not for another`()
        async throws
    {
        let answer: SteeredAnswer = { request in
            request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") ? request.denial : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a", "b"])
            async let first = failure(engine, "a")
            async let second = failure(engine, "b")
            let messages = await [first?.message ?? "", second?.message ?? ""]
            #expect(messages[0].contains("CONSUMER.MSG.NEXT.OUTBOX.a\""), "\(messages[0])")
            #expect(messages[1].contains("CONSUMER.MSG.NEXT.OUTBOX.b\""), "\(messages[1])")
            #expect(log.subjects("$JS.API.CONSUMER.MSG.NEXT.").count == 2)
        }
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

    // MARK: Connecting

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
            return NATSSettings.expiry(of: "-----BEGIN NATS USER JWT-----\r\n\(token)\r\n------END\r\nSU.A\r\n")
        }
        #expect(expiry(#"{"exp":1767225600,"name":"~?~>"}"#) == OutboxEvent.start)
        #expect(expiry(#"{"name":"u"}"#) == nil)
        #expect(expiry(#"{"exp":9223372036854775807}"#) == nil)
        #expect(expiry("{") == nil)
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

    @Test func `an event that the server is already storing ends up stored`() async throws {
        let isFirst = Mutex(true)
        let answer: SteeredAnswer = { request in
            let isRefused = isFirst.withLock { isFirst in
                defer { if request.isEvent { isFirst = false } }
                return isFirst && request.isEvent
            }
            guard isRefused else { return nil }
            return request.refusal(409, 10_158, "duplicate message id is in process")
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let step = try await engine.append([.numbered(1)], to: ["a"])
            #expect(step.isApplied == [true])
            #expect(log.subjects("OUTBOX.e.").count == 2)
        }
    }

    @Test func `an event is stored only if its dead letter will fit, too`() async throws {
        try await NATSEngine.withFake(maximum: 8192) { engine, log in
            _ = try await engine.append([.numbered(1, bytes: 3000)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(2), .numbered(3, bytes: 5000)], to: ["a"])
            }
            #expect(error?.code == .tooLarge)
            #expect(log.subjects("OUTBOX.e.").count == 1)
        }
    }

    @Test func `a server that accepts no message as large as a dead letter's reason is refused`() async throws {
        let error = await #expect(throws: ConnectorError.self) {
            try await NATSEngine.withFake(maximum: 4000) { _, _ in }
        }
        #expect(error?.code == .conflict)
        #expect(error?.fix?.contains("max_payload") == true)
    }

    @Test func `an event that is larger than the stream takes is too large, whatever the server takes`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.isEvent else { return nil }
            return request.refusal(400, 10_054, "message size exceeds maximum allowed")
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.code == .tooLarge)
            #expect(error?.fix?.contains("max_msg_size") == true)
        }
    }

    // MARK: Leasing

    @Test func `a server that allows few events in a request is asked for as many as it allows`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT."),
                let count = (try? JSONValue(parsing: request.payload))?["batch"]?.integer, count > 10
            else { return nil }
            return request.message([], headers: "NATS/1.0 409 Exceeded MaxRequestBatch of 10")
        }
        try await NATSEngine.withFake(answer) { engine, log in
            _ = try await engine.append((1...3).map { .numbered($0) }, to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.count == 3)
            #expect(log.subjects("$JS.API.CONSUMER.MSG.NEXT.").count == 2)
        }
    }

    @Test func `a permission to lease events that the user lacks is an error, and not an empty queue`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            return request.denial
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.code == .storage && error?.isRetryable == true)
            #expect(error?.message.contains("Permissions Violation") == true)
        }
    }

    @Test func `a consumer that was deleted is an error that names the remedy`() async throws {
        let answer: SteeredAnswer = { request in
            if request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") { return [] }
            guard request.subject.hasPrefix("$JS.API.CONSUMER.INFO.") else { return nil }
            return request.refusal(404, 10_014, "consumer not found")
        }
        var waits = NATSSettings.Waits.brief
        waits.limit = 3_000_000_000
        try await NATSEngine.withFake(waits: waits, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.message.contains("consumer not found") == true)
            #expect(error?.fix?.contains("outbox migrate") == true)
        }
    }

    @Test func `a consumer for which no server responds for a moment hands out its events after it`() async throws {
        let isAbsent = Mutex(true)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            let isFirst = isAbsent.withLock { isAbsent in
                defer { isAbsent = false }
                return isAbsent
            }
            return isFirst ? request.message([], headers: "NATS/1.0 503") : nil
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.map(\.id) == ["event-1"])
        }
    }

    @Test func `a consumer for which no server responds is an error in the end`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            return request.message([], headers: "NATS/1.0 503")
        }
        try await NATSEngine.withFake(waits: .brief, answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.cause?.contains("the consumer a") == true)
            #expect(log.subjects("$JS.API.CONSUMER.MSG.NEXT.").count > 1)
        }
    }

    // MARK: Settling

    private func settle(_ engine: NATSEngine, _ batch: OutboxBatch, _ outcomes: [DeliveryOutcome]) async throws {
        let failures = outcomes.map { $0 == .delivered ? nil : DeliveryFailure(.invalid, "bad") }
        try await engine.settle(batch, outcomes, Attempt(at: OutboxEvent.start, failures: failures))
    }

    @Test func `dead letters that cannot be stored do not hold up events that the vendor has`() async throws {
        let isFull = Mutex(true)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("OUTBOX.dead."), isFull.withLock(\.self) else { return nil }
            return request.refusal(503, 10_077, "maximum bytes exceeded")
        }
        try await NATSEngine.withFake(answer) { engine, log in
            _ = try await engine.append([.numbered(1), .numbered(2)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            await #expect(throws: ConnectorError.self) { try await settle(engine, batch, [.dead, .delivered]) }
            #expect(log.subjects("$JS.ACK.OUTBOX.a.1.", "+ACK").map { $0.split(separator: ".")[5] } == ["2"])
            isFull.withLock { $0 = false }
            try await settle(engine, batch, [.dead, .delivered])
            #expect(log.subjects("$JS.ACK.OUTBOX.a.1.", "+ACK").map { $0.split(separator: ".")[5] } == ["2", "1"])
            let statistics = try await engine.statistics()
            #expect(statistics["a"]?.delivered == 1)
        }
    }

    @Test func `a batch whose consumer is gone is settled, with one letter for each event`() async throws {
        let isGone = Mutex(false)
        let answer: SteeredAnswer = { request in
            if request.subject.hasPrefix("$JS.ACK.") {
                return request.reply == nil ? [] : request.message([], headers: "NATS/1.0 503")
            }
            guard request.subject.hasPrefix("$JS.API.CONSUMER.INFO."), isGone.withLock(\.self) else { return nil }
            return request.refusal(404, 10_014, "consumer not found")
        }
        try await NATSEngine.withFake(waits: .brief, answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            await #expect(throws: ConnectorError.self) { try await settle(engine, batch, [.dead]) }
            isGone.withLock { $0 = true }
            try await settle(engine, batch, [.dead])
            #expect(log.subjects("OUTBOX.dead.") == ["OUTBOX.dead.a"])
        }
    }

    @Test func `a letter that is in the queue again and cannot be deleted is an error that says both`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.STREAM.MSG.DELETE.") else { return nil }
            return request.refusal(400, 10_110, "message delete not permitted")
        }
        try await NATSEngine.withFake(answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            try await settle(engine, batch, [.dead])
            let error = await #expect(throws: ConnectorError.self) { try await engine.replay(RecordSelection()) }
            #expect(error?.message.contains("not permitted") == true)
            #expect(error?.message.contains("in the queue again") == true)
            #expect(log.subjects("OUTBOX.e.").count == 2)
        }
    }

    @Test(arguments: [10_002, 10_026, 10_027] as [Int64])
    func `that an account may have no more streams or consumers is said with a remedy`(_ number: Int64) async throws {
        try await NATSEngine.withFake { engine, _ in
            let refusal = JetStream.Refusal(code: 400, number: number, description: "limit reached")
            #expect(engine.jetStream.error(refusal).fix?.contains("account") == true)
        }
    }
}
