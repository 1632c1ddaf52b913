// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities

/// What an attempt to deliver a batch means for its events, and for the next batch.
struct DeliveryDecision {
    /// What becomes of each event that was sent: of the first ones of the batch. The others have had no attempt.
    var outcomes: [DeliveryOutcome]
    /// Why each of these was not delivered; nil if it was.
    var failures: [DeliveryFailure?]
    /// What to deliver next.
    var next: Next

    /// What to deliver next.
    enum Next: Hashable {
        /// The next batch.
        case proceed
        /// Half of the batch, since one of its events makes the vendor refuse all of them.
        case split
        /// The same events again, once the vendor can take them.
        ///
        /// A call of a composite takes too long if it does so at one child, whatever the other children answer.
        case pause(DeliveryFailure, atLeast: Duration?, isTimeout: Bool)
    }

    /// Reads an answer, one for each event, or the error of the whole batch.
    ///
    /// Only an event that the vendor calls invalid or too large is a dead letter. Everything else is tried again: a
    /// refusal because of credentials, permissions or the address is not the event's fault.
    ///
    /// - Parameters:
    ///   - retryTime: Returns when to retry an event after that many attempts, not before the wait that the vendor asks
    ///     for; at once if that is zero.
    init(
        _ answer: Result<[DeliveryAnswer], ConnectorError>,
        of batch: OutboxBatch,
        retryTime: (_ attempts: Int, _ least: Duration?) -> Timestamp
    ) {
        let count = batch.entries.count
        switch answer {
        case .failure(let error):
            let failure = DeliveryFailure(error.code, error.message, asking: error.retryAfter)
            failures = Array(repeating: failure, count: count)
            guard Self.blamesEvent(error.code) else {
                outcomes = Array(repeating: .waiting, count: count)
                next = .pause(failure, atLeast: error.retryAfter, isTimeout: error.hasTimedOut)
                return
            }
            outcomes = Array(repeating: count > 1 ? .waiting : .dead, count: count)
            next = count > 1 ? .split : .proceed
        case .success(let answers):
            let refusals = answers.map { $0.outcome == .accepted ? nil : DeliveryFailure($0) }
            let isLasting = answers.map { $0.outcome == .rejected && !Self.holds($0.code ?? .invalid) }
            let isMoving = zip(answers, isLasting).contains { $0.outcome == .accepted || $1 }
            guard isMoving, count == answers.count else {
                let failure = refusals.lazy.compactMap(\.self).first ?? DeliveryFailure(.misbehaved, "no answer")
                failures = count == answers.count ? refusals : Array(repeating: failure, count: count)
                outcomes = Array(repeating: .waiting, count: count)
                next = .pause(
                    failure,
                    atLeast: answers.compactMap(\.retryAfter).max(),
                    isTimeout: failure.code == .timedOut
                )
                return
            }
            // What was not sent keeps its place and has had no attempt, unless a later event was sent.
            let sent = 0...(answers.lastIndex { !$0.isUnsent } ?? 0)
            failures = Array(refusals[sent])
            outcomes = sent.map { index in
                if answers[index].outcome == .accepted { return .delivered }
                return isLasting[index]
                    ? .dead
                    : .retry(
                        at: retryTime(batch.entries[index].attempts.saturatingAdding(1), answers[index].retryAfter)
                    )
            }
            next = .proceed
        }
    }

    /// Whether an error of a whole batch is the fault of an event in it.
    private static func blamesEvent(_ code: ConnectorError.Code) -> Bool { code == .invalid || code == .tooLarge }

    /// Whether the refusal of one event concerns the connection rather than the event.
    private static func holds(_ code: ConnectorError.Code) -> Bool {
        [.unauthorized, .denied, .missing, .rateLimited, .unavailable, .timedOut, .notOpen, .crashed].contains(code)
    }
}

extension DeliveryFailure {
    fileprivate init(_ answer: DeliveryAnswer) {
        self.init(answer.code ?? .failed, answer.reason ?? answer.outcome.rawValue, asking: answer.retryAfter)
    }

    /// Names a failure, and the wait that the vendor asks for if that is long: nobody else explains why nothing is sent.
    fileprivate init(_ code: ConnectorError.Code, _ reason: String, asking wait: Duration?) {
        let (seconds, longest) = (wait?.components.seconds ?? 0, DeliveryPolicy.longestAskedWait.components.seconds)
        guard seconds > 60 else {
            self.init(code, reason)
            return
        }
        func text(_ seconds: Int64) -> String { seconds < 7200 ? "\(seconds) s" : "\(seconds / 3600) h" }
        let bound = seconds > longest ? ", and is tried again after \(text(longest))" : ""
        self.init(code, "\(reason); the vendor asks for a wait of \(text(seconds))\(bound)")
    }
}
