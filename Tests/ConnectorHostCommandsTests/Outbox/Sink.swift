// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A vendor that speaks Segment's API, answers as a test says, and counts every event by its id.
final class Sink: Sendable {
    /// What it does with a batch.
    enum Answer: CaseIterable {
        /// Takes it.
        case takes
        /// Takes it, and answers late.
        case slow
        /// Takes it, and ends the connection without an answer.
        case lost
        /// Answers 503.
        case away
        /// Answers 429 with Retry-After.
        case limits
        /// Answers 400.
        case refuses
        /// Answers 401.
        case unauthorized
        /// Answers 403.
        case forbidden
        /// Answers 404.
        case absent
        /// Resets the connection.
        case reset
        /// Answers what is not HTTP.
        case garbage
        /// Answers a page of HTML with 200, as captive portals do.
        case page

        /// Whether the vendor has the events.
        var isTaking: Bool { self == .takes || self == .slow || self == .lost }
    }

    /// A moment of a request.
    enum Moment: CaseIterable { case began, read, answered }

    private struct State {
        /// How often each id was taken.
        var taken: [String: Int] = [:]
        /// The ids in the order in which they were taken.
        var arrived: [String] = []
        /// Ids that came with an event that is not theirs.
        var mixed: Set<String> = []
        /// The credentials that came with each batch.
        var keys: [String] = []
        var answer: @Sendable (_ key: String) -> Answer = { _ in .takes }
        /// Who waits for a moment, and how many batches must still reach it.
        var waiting: [(moment: Moment, count: Int, isMet: OneShot<Void>)] = []
        /// Who waits for an event.
        var waitingForEvents: [(id: String, isMet: OneShot<Void>)] = []
    }

    private let state = Mutex(State())
    private let channel = Mutex<(any Channel)?>(nil)
    private let connections = Mutex<[any Channel]>([])
    private let host: String

    private init(_ host: String) {
        self.host = host
    }

    /// Starts one on an interface of this machine.
    static func start(_ host: String = "127.0.0.1") async throws -> Sink {
        let sink = Sink(host)
        // The runtime of Swift 6.3 crashes when the first connections of two event loops make this type at the same time.
        _ = ByteToMessageHandler(HTTPRequestDecoder())
        try await sink.listen(Int(try LoopbackPort.free()))
        return sink
    }

    /// Listens on a port; may be called again after ``stop()``.
    func listen(_ port: Int) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                self.connections.withLock { $0.append(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    try channel.pipeline.syncOperations.addHandler(SinkConnection(self))
                }
            }
            .bind(host: host, port: port).get()
        self.channel.withLock { $0 = channel }
    }

    /// Stops listening, and ends every connection.
    func stop() async throws {
        try await channel.withLock(\.self)?.close()
        for connection in connections.withLock(\.self) { try? await connection.close() }
        connections.withLock { $0 = [] }
    }

    /// Where it is.
    var url: String { "http://\(host):\(port)" }

    /// The port that it listens on.
    var port: Int { channel.withLock(\.self)?.localAddress?.port ?? 0 }

    /// How often each id was taken.
    var taken: [String: Int] { state.withLock(\.taken) }

    /// The ids in the order in which they were taken.
    var arrived: [String] { state.withLock(\.arrived) }

    /// The credentials that came with each batch.
    var keys: [String] { state.withLock(\.keys) }

    /// Ids that came with an event that is not theirs.
    var mixed: Set<String> { state.withLock(\.mixed) }

    /// Sets what it does from now on.
    func answers(_ answer: @escaping @Sendable (_ key: String) -> Answer) {
        state.withLock { $0.answer = answer }
    }

    /// Counts the batches that reach a moment from now on.
    func expect(_ moment: Moment, _ count: Int) -> Expectation {
        let expectation = Expectation(name: "\(moment), \(count) times")
        state.withLock { $0.waiting.append((moment, count, expectation.isMet)) }
        return expectation
    }

    /// Watches for an event, which may have been taken before.
    func expect(_ id: String) -> Expectation {
        let expectation = Expectation(name: "taken: \(id)")
        state.withLock { state in
            if state.taken[id] == nil {
                state.waitingForEvents.append((id, expectation.isMet))
            } else {
                expectation.isMet.send()
            }
        }
        return expectation
    }

    /// Something that is to happen at a vendor, watched for from the moment this value is made.
    struct Expectation {
        fileprivate let name: String
        fileprivate let isMet = OneShot<Void>()

        /// Waits until it has happened.
        ///
        /// - Throws: `timedOut` after three minutes, or once the test is cancelled: a test that fails must end.
        func met() async throws {
            let (clock, ticket) = (SystemHostClock(), isMet.ticket())
            let timer = clock.schedule(at: clock.now() + 180_000_000_000) { [isMet] in isMet.leave(ticket) }
            defer { clock.cancel(timer) }
            let event: Void? = await withTaskCancellationHandler {
                await isMet.wait(as: ticket)
            } onCancel: { [isMet] in
                isMet.leave(ticket)
            }
            guard event != nil else { throw ConnectorError(.timedOut, "the vendor did not see: \(name)") }
        }
    }

    /// Tells those who wait that a batch has reached a moment.
    func reached(_ moment: Moment) {
        let due = state.withLock { state in
            for index in state.waiting.indices where state.waiting[index].moment == moment {
                state.waiting[index].count -= 1
            }
            let due = state.waiting.filter { $0.count == 0 }
            state.waiting.removeAll { $0.count == 0 }
            return due
        }
        for waiting in due { waiting.isMet.send() }
    }

    /// Takes the events of a batch, or does not. A batch with an event whose property `poison` is true is refused.
    func take(_ events: [JSONValue], key: String) -> Answer {
        let isPoisoned = events.contains { $0["properties"]?["poison"] == true }
        return state.withLock { state in
            state.keys.append(key)
            let answer = state.answer(key)
            guard answer.isTaking else { return answer }
            guard !isPoisoned else { return .refuses }
            for event in events {
                let id = event["messageId"]?.string ?? ""
                state.taken[id, default: 0] += 1
                state.arrived.append(id)
                if event["event"]?.string != "event \(id)" { state.mixed.insert(id) }
            }
            for waiting in state.waitingForEvents where state.taken[waiting.id] != nil { waiting.isMet.send() }
            state.waitingForEvents.removeAll { state.taken[$0.id] != nil }
            return answer
        }
    }
}
