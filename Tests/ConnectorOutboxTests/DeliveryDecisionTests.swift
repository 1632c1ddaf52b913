// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorOutbox

/// What the answers to a batch decide about its events.
@Suite struct DeliveryDecisionTests {
    @Test(arguments: [[], [DeliveryAnswer.accepted], [.retry("later")], [.rejected("no"), .rejected("no"), .accepted]])
    func `an answer for the wrong number of events leaves each event waiting, with a reason`(
        _ answers: [DeliveryAnswer]
    ) {
        let batch = OutboxBatch(events: [.numbered(1), .numbered(2)])
        let decision = DeliveryDecision(.success(answers), of: batch) { _, _ in
            OutboxEvent.start
        }
        #expect(decision.outcomes == [.waiting, .waiting])
        #expect(decision.failures.count == 2 && !decision.failures.contains(nil))
        guard case .pause = decision.next else {
            Issue.record("\(decision.next)")
            return
        }
    }

    private static let now = OutboxEvent.start
    private static let later = Timestamp(nanoseconds: now.nanoseconds + 60_000_000_000)
    /// A failure of one event.
    private static let conflict = DeliveryAnswer.retry("", after: .zero, code: .conflict)
    /// Failures of the connection.
    private static let (away, limited) = (
        DeliveryAnswer.retry("", after: .zero), DeliveryAnswer.retry("", after: .seconds(20), code: .rateLimited)
    )

    @Test(
        arguments: [
            ([.accepted, .unsent("")], [.delivered]),
            ([.accepted, .unsent(""), conflict], [.delivered, .retry(at: now), .retry(at: later)]),
            ([.unsent(""), .rejected(""), .unsent("")], [.retry(at: now), .dead]),
            ([.accepted, conflict, .unsent("")], [.delivered, .retry(at: later)]),
        ] as [([DeliveryAnswer], [DeliveryOutcome])]
    )
    func `an event that was not sent keeps its place or is sent at once, and a vendor's zero is no reason to hurry`(
        _ answers: [DeliveryAnswer],
        _ outcomes: [DeliveryOutcome]
    ) {
        let batch = OutboxBatch(events: answers.indices.map { .numbered($0 + 1) })
        let decision = DeliveryDecision(.success(answers), of: batch) { _, least in
            least == .zero ? Self.now : Self.later
        }
        #expect(decision.outcomes == outcomes)
        #expect(decision.failures.map { $0 == nil } == answers.prefix(outcomes.count).map(Self.hasNoFailure))
        #expect(decision.next == .proceed)
    }

    /// Whether an event was accepted, or not sent.
    private static func hasNoFailure(_ answer: DeliveryAnswer) -> Bool {
        answer.outcome == .accepted || answer.isUnsent
    }

    @Test(
        arguments: [
            ([.accepted, limited, .unsent("")], [.delivered, .waiting], .seconds(20), .rateLimited),
            ([.accepted, away], [.delivered, .waiting], nil, .unavailable),
            ([.rejected(""), away, limited, .unsent("")], [.dead, .waiting, .waiting], .seconds(20), .unavailable),
            ([.accepted, away, .unsent(""), away], [.delivered, .waiting, .waiting, .waiting], nil, .unavailable),
            ([limited, .accepted, .unsent("")], [.retry(at: later), .delivered], .seconds(20), .rateLimited),
            (
                [.unsent(""), limited, .unsent(""), .accepted],
                [.retry(at: now), .retry(at: later), .retry(at: later), .delivered], .seconds(20), .rateLimited
            ),
            ([.rejected("", code: .unauthorized), .accepted], [.retry(at: later), .delivered], nil, .unauthorized),
            ([.accepted, conflict, away, .unsent("")], [.delivered, .retry(at: later), .waiting], nil, .unavailable),
            ([away, .unsent("")], [.waiting], nil, .unavailable),
            ([.unsent(""), conflict, limited, .unsent("")], [.waiting, .waiting, .waiting], .seconds(20), .conflict),
            ([.unsent(""), .unsent("")], [], nil, .timedOut),
        ] as [([DeliveryAnswer], [DeliveryOutcome], Duration?, ConnectorError.Code)]
    )
    func `after a failure of the connection the delivery pauses, and the end of the batch keeps its place`(
        _ answers: [DeliveryAnswer],
        _ outcomes: [DeliveryOutcome],
        _ least: Duration?,
        _ code: ConnectorError.Code
    ) {
        let batch = OutboxBatch(events: answers.indices.map { .numbered($0 + 1) })
        let decision = DeliveryDecision(.success(answers), of: batch) { _, least in
            least == .zero ? Self.now : Self.later
        }
        #expect(decision.outcomes == outcomes)
        #expect(decision.failures.map { $0 == nil } == answers.prefix(outcomes.count).map(Self.hasNoFailure))
        guard case .pause(let failure, let wait, _) = decision.next else {
            Issue.record("\(decision.next)")
            return
        }
        #expect(failure.code == code && wait == least)
    }

    @Test func `events that fail with the connection before one that was taken are retried in order, at one time`() {
        var batch = OutboxBatch(events: (1...5).map { .numbered($0) })
        batch.entries[1].attempts = 3
        let answers = [Self.away, Self.limited, .unsent(""), Self.away, .accepted]
        var draws: [(attempts: Int, least: Duration?)] = []
        let decision = DeliveryDecision(.success(answers), of: batch) { entry, least in
            draws.append((entry.attempts, least))
            return Timestamp(nanoseconds: UInt64(draws.count))
        }
        let together = Array(repeating: DeliveryOutcome.retry(at: Timestamp(nanoseconds: 1)), count: 4)
        #expect(decision.outcomes == together + [.delivered])
        #expect(draws.map(\.attempts) == [3] && draws.map(\.least) == [.seconds(20)])
    }

    /// What an answer decides about events that have failed before and wait on their own.
    private func decision(
        _ answer: Result<[DeliveryAnswer], ConnectorError>,
        attempts: [Int],
        _ retryTime: (OutboxBatch.Entry, Duration?) -> Timestamp
    ) -> DeliveryDecision {
        var batch = OutboxBatch(events: attempts.indices.map { .numbered($0 + 1) })
        for (index, count) in attempts.enumerated() { batch.entries[index].attempts = count }
        return DeliveryDecision(answer, of: batch, waitAlone: true, retryTime: retryTime)
    }

    @Test func `events that wait on their own and all fail by themselves again are tried again together`() {
        let long = DeliveryAnswer.retry("busy", after: .seconds(20), code: .failed)
        var draws: [(attempts: Int, least: Duration?)] = []
        let decision = decision(.success([Self.conflict, .unsent(""), long, .unsent("")]), attempts: [3, 1, 2, 1]) {
            entry,
            least in
            if least != .zero { draws.append((entry.attempts, least)) }
            return least == .zero ? Self.now : Self.later
        }
        #expect(decision.outcomes == [.retry(at: Self.later), .retry(at: Self.now), .retry(at: Self.later)])
        #expect(decision.failures.map { $0?.code } == [.conflict, nil, .failed])
        #expect(decision.next == .leave(DeliveryFailure(.conflict, ""), until: Self.later))
        #expect(draws.map(\.attempts) == [3] && draws.map(\.least) == [.seconds(20)])
    }

    @Test func `a call for events that wait on their own holds up others only if it fails with the connection`() {
        func next(_ error: ConnectorError, count: Int = 1) -> DeliveryDecision.Next {
            decision(.failure(error), attempts: Array(repeating: 1, count: count)) { _, _ in Self.later }.next
        }
        let failure = DeliveryFailure(.conflict, "no")
        #expect(next(ConnectorError(.conflict, "no")) == .leave(failure, until: Self.later))
        #expect(next(ConnectorError(.conflict, "no"), count: 2) == .leave(failure, until: Self.later))
        let away = DeliveryFailure(.unavailable, "no")
        #expect(next(ConnectorError(.unavailable, "no")) == .pause(away, atLeast: nil, .connection))
        var whole = ConnectorError(.failed, "no child takes it")
        whole.outcomes = [
            CallOutcome("a", error: ConnectorError(.conflict, "no")),
            CallOutcome("b", error: ConnectorError(.unavailable, "away")),
        ]
        let all = DeliveryFailure(.failed, "no child takes it")
        #expect(next(whole) == .pause(all, atLeast: nil, .connection))
        var outer = ConnectorError(.failed, "no child takes it")
        outer.outcomes = [CallOutcome("inner", error: whole)]
        #expect(next(outer, count: 2) == .pause(all, atLeast: nil, .connection))
    }

    @Test(arguments: [true, false])
    func `a refusal that may pass, or is the host's own, divides a batch, and no event dies of it`(_ isOfHost: Bool) {
        var error = ConnectorError(.tooLarge, "no", isRetryable: !isOfHost)
        error.isServiceRefusal = isOfHost
        func decide(_ count: Int) -> DeliveryDecision {
            let batch = OutboxBatch(events: (1...count).map { .numbered($0) })
            return DeliveryDecision(.failure(error), of: batch) { _, _ in Self.later }
        }
        #expect(decide(2).next == .split && decide(2).outcomes == [.waiting, .waiting])
        let failure = DeliveryFailure(.tooLarge, "no")
        #expect(decide(1).next == .pause(failure, atLeast: nil, .everyEvent) && decide(1).outcomes == [.waiting])
        let alone = decision(.failure(error), attempts: [1]) { _, _ in Self.later }
        #expect(alone.next == .leave(failure, until: Self.later) && alone.outcomes == [.retry(at: Self.later)])
    }

    @Test func `a failed connection keeps the host's advice`() {
        let error = ConnectorError(.unavailable, "the proxy refuses it", fix: "set HTTPS_PROXY")
        let decision = DeliveryDecision(.failure(error), of: OutboxBatch(events: [.numbered(1)])) { _, _ in Self.later }
        var failure = DeliveryFailure(.unavailable, "the proxy refuses it")
        failure.fix = "set HTTPS_PROXY"
        #expect(decision.next == .pause(failure, atLeast: nil, .connection))
    }

    @Test func `events that wait on their own and fail together as a batch are tried again together`() {
        let decision = decision(.failure(ConnectorError(.conflict, "no")), attempts: [1, 4]) { entry, _ in
            Timestamp(nanoseconds: Self.now.nanoseconds + UInt64(entry.attempts))
        }
        let due = Timestamp(nanoseconds: Self.now.nanoseconds + 4)
        #expect(decision.outcomes == [.retry(at: due), .retry(at: due)])
        #expect(decision.failures == [DeliveryFailure(.conflict, "no"), DeliveryFailure(.conflict, "no")])
    }

    @Test func `new events are to blame for a pause if each that was sent failed by itself, or all did as a whole`() {
        func suspect(
            _ answer: Result<[DeliveryAnswer], ConnectorError>,
            count: Int
        ) -> DeliveryDecision.Suspect? {
            let batch = OutboxBatch(events: (1...count).map { .numbered($0) })
            let decision = DeliveryDecision(answer, of: batch) { _, _ in Self.later }
            guard decision.outcomes.allSatisfy({ $0 == .waiting }) else { return nil }
            guard case .pause(_, _, let suspect) = decision.next else { return nil }
            return suspect
        }
        #expect(suspect(.success([Self.conflict, .unsent("")]), count: 2) == .everyEvent)
        #expect(suspect(.success([Self.conflict, Self.away]), count: 2) == .connection)
        #expect(suspect(.failure(ConnectorError(.conflict, "no")), count: 1) == .everyEvent)
        #expect(suspect(.failure(ConnectorError(.unavailable, "no")), count: 1) == .connection)
        #expect(suspect(.failure(ConnectorError(.conflict, "no")), count: 2) == .batch)
        #expect(suspect(.failure(ConnectorError(.unavailable, "no")), count: 2) == .connection)
    }

    @Test(arguments: [[away, conflict], [conflict, limited, .unsent("")]])
    func `events that wait on their own keep their places if one of them fails with the connection`(
        _ answers: [DeliveryAnswer]
    ) {
        let decision = decision(.success(answers), attempts: answers.map { _ in 1 }) { _, _ in Self.later }
        #expect(decision.outcomes == [.waiting, .waiting])
        guard case .pause = decision.next else {
            Issue.record("\(decision.next)")
            return
        }
    }

    @Test func `a composite took too long if one of its children did`() {
        var error = ConnectorError(.failed, "every open child failed")
        error.outcomes = [
            CallOutcome("a", error: ConnectorError(.unavailable, "away")),
            CallOutcome("b", error: ConnectorError(.timedOut, "too slow")),
        ]
        let decision = DeliveryDecision(.failure(error), of: OutboxBatch(events: [.numbered(1)])) { _, _ in
            Self.now
        }
        let failure = DeliveryFailure(.failed, "every open child failed")
        #expect(decision.next == .pause(failure, atLeast: nil, .batch))
        #expect(decision.outcomes == [.waiting])
    }

    @Test func `a batch that its plugin's runner had when it ended is suspect, and a single event is named`() {
        func decision(_ sending: ConnectorError.Sending, count: Int) -> DeliveryDecision {
            var error = ConnectorError(.crashed, "ended")
            error.sending = sending
            var whole = ConnectorError(.failed, "no child takes it")
            whole.outcomes = [
                CallOutcome("a", error: error), CallOutcome("b", error: ConnectorError(.unavailable, "away")),
            ]
            let batch = OutboxBatch(events: (1...count).map { .numbered($0) })
            return DeliveryDecision(.failure(whole), of: batch) { _, _ in Self.now }
        }
        let failure = DeliveryFailure(.failed, "no child takes it")
        #expect(decision(.no, count: 1).next == .pause(failure, atLeast: nil, .connection))
        #expect(decision(.yes, count: 2).next == .pause(failure, atLeast: nil, .batch))
        guard case .pause(let named, atLeast: nil, .event("event-1")) = decision(.unknown, count: 1).next else {
            Issue.record("\(decision(.unknown, count: 1).next)")
            return
        }
        #expect(named.reason.hasPrefix("no child takes it; ") && named.reason.contains("event-1"), "\(named.reason)")
    }

    @Test func `of events that are delivered one by one, the one that ended its plugin's runner is named`() {
        let answers: [DeliveryAnswer] = [.accepted, .retry("ended", code: .crashed), .unsent("")]
        let batch = OutboxBatch(events: (1...3).map { .numbered($0) })
        let decision = DeliveryDecision(.success(answers), of: batch) { _, _ in Self.now }
        #expect(decision.outcomes == [.delivered, .waiting])
        guard case .pause(let named, atLeast: nil, .event("event-2")) = decision.next else {
            Issue.record("\(decision.next)")
            return
        }
        #expect(decision.failures == [nil, named])
        #expect(named.code == .crashed && named.reason.contains("event-2"), "\(named.reason)")
    }
}
