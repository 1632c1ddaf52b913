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

    @Test(
        arguments: [
            ([.accepted, .unsent("")], [.delivered]),
            ([.accepted, .unsent(""), .retry("")], [.delivered, .retry(at: now), .retry(at: later)]),
            ([.unsent(""), .rejected(""), .unsent("")], [.retry(at: now), .dead]),
            ([.accepted, .retry("", after: .zero, code: .rateLimited)], [.delivered, .retry(at: later)]),
            ([.accepted, .retry("", after: .zero)], [.delivered, .retry(at: later)]),
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
        #expect(decision.failures.count == outcomes.count)
        #expect(decision.next == .proceed)
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
        #expect(decision.next == .pause(failure, atLeast: nil, isTimeout: true))
        #expect(decision.outcomes == [.waiting])
    }
}
