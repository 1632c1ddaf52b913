// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities

/// What an attempt to deliver a batch means for its events, and for the next batch.
struct DeliveryDecision {
    /// What becomes of the batch's first events, up to the last one that was sent. The others have had no attempt.
    var outcomes: [DeliveryOutcome]
    /// Why each of these was not delivered; nil if it was, or if it was not sent.
    var failures: [DeliveryFailure?]
    /// What to deliver next.
    var next: Next

    /// What to deliver next.
    enum Next: Hashable {
        /// The next batch.
        case proceed
        /// Half of the batch, since one of its events makes the vendor refuse all of them.
        case split
        /// The next batch: this one is tried again at that time, and its failure says nothing of others.
        case leave(DeliveryFailure, until: Timestamp)
        /// The same batch, without the settled events, once the vendor can take it.
        case pause(DeliveryFailure, atLeast: Duration?, Suspect)
    }

    /// What may be to blame for a failure after which the delivery pauses.
    ///
    /// What happens at one child of a composite counts, whatever the other children answer.
    enum Suspect: Hashable {
        /// Nothing in the batch: other events would have failed like it.
        case connection
        /// The size of the batch or one of its events: the call took too long, the plugin's runner ended during it, or several events failed
        /// as a whole for a reason that is not the connection's.
        case batch
        /// The event with this id, which the failure names: it was alone in the call during which the plugin's runner ended.
        case event(String)
        /// Every event that was sent: none was delivered, and each failed by itself, or was alone in a batch that did. That says nothing of
        /// others.
        case everyEvent
    }

    /// Reads an answer, one for each event, or the error of the whole batch.
    ///
    /// Only an event that the vendor calls invalid or too large is a dead letter. Everything else is tried again: a
    /// refusal because of credentials, permissions or the address is not the event's fault.
    ///
    /// - Parameters:
    ///   - waitAlone: Whether the events have failed by themselves before: they wait on their own, or do so if they fail so again.
    ///   - retryTime: Returns when to retry an event, not before the wait that the vendor asks for; at once if that is zero.
    init(
        _ answer: Result<[DeliveryAnswer], ConnectorError>,
        of batch: OutboxBatch,
        waitAlone: Bool = false,
        retryTime: (_ entry: OutboxBatch.Entry, _ least: Duration?) -> Timestamp
    ) {
        let count = batch.entries.count
        switch answer {
        case .failure(let error):
            var failure = DeliveryFailure(error.code, error.message, asking: error.retryAfter)
            failure.fix = error.fix
            // What may pass, and what the host itself refuses, is divided like any other, but blames no event.
            guard error.concernsContent, count > 1 || error.condemnsContent else {
                let isConnection = Self.concernsConnection(error)
                if waitAlone, !isConnection {
                    let answer = DeliveryAnswer.retry(error.message, after: error.retryAfter, code: error.code)
                    let answers = Array(repeating: answer, count: count)
                    (outcomes, failures, next) = Self.leave(answers, answers.map { _ in .failed }, of: batch, retryTime)
                    return
                }
                var suspect = isConnection ? Suspect.connection : count == 1 ? .everyEvent : .batch
                if error.hasTimedOut || error.hasEndedRunner { suspect = .batch }
                if error.hasEndedRunner, count == 1 {
                    failure.name(batch.entries[0])
                    suspect = .event(batch.entries[0].id)
                }
                failures = Array(repeating: failure, count: count)
                outcomes = Array(repeating: .waiting, count: count)
                next = .pause(failure, atLeast: error.retryAfter, suspect)
                return
            }
            failures = Array(repeating: failure, count: count)
            outcomes = Array(repeating: count > 1 ? .waiting : .dead, count: count)
            next = count > 1 ? .split : .proceed
        case .success(let answers):
            guard answers.count == count else {
                let refusal = answers.first { $0.outcome != .accepted }
                let failure = refusal.map { DeliveryFailure($0) } ?? .unanswered
                failures = Array(repeating: failure, count: count)
                outcomes = Array(repeating: .waiting, count: count)
                let least = answers.compactMap(\.retryAfter).max()
                next = .pause(failure, atLeast: least, failure.code == .timedOut ? .batch : .connection)
                return
            }
            let dispositions = answers.map { Disposition($0) }
            if waitAlone, dispositions.contains(.failed), dispositions.allSatisfy({ $0 == .failed || $0 == .unsent }) {
                (outcomes, failures, next) = Self.leave(answers, dispositions, of: batch, retryTime)
            } else {
                (outcomes, failures, next) = Self.decide(answers, dispositions, of: batch, retryTime)
            }
        }
    }

    /// Reads answers by which all events that were sent failed by themselves, one by one or together, and as they have before. They hold
    /// up no others, and are tried again at one time, so that those that came together stay together.
    private static func leave(
        _ answers: [DeliveryAnswer],
        _ dispositions: [Disposition],
        of batch: OutboxBatch,
        _ retryTime: (_ entry: OutboxBatch.Entry, _ least: Duration?) -> Timestamp
    ) -> (outcomes: [DeliveryOutcome], failures: [DeliveryFailure?], next: Next) {
        let failed = dispositions.indices.filter { dispositions[$0] == .failed }
        let oldest = failed.max { batch.entries[$0].attempts < batch.entries[$1].attempts } ?? 0
        let due = retryTime(batch.entries[oldest], failed.compactMap { answers[$0].retryAfter }.max())
        let sent = dispositions.indices.prefix((failed.last ?? -1) + 1)
        let outcomes = sent.map { index -> DeliveryOutcome in
            .retry(at: dispositions[index] == .failed ? due : retryTime(batch.entries[index], .zero))
        }
        let failures = sent.map { index -> DeliveryFailure? in
            dispositions[index] == .failed ? DeliveryFailure(answers[index]) : nil
        }
        return (outcomes, failures, .leave(failures.compactMap(\.self).first ?? .unanswered, until: due))
    }

    /// Reads an answer for each event.
    ///
    /// At the end of the batch, the events that failed with the connection, or were not sent, keep their places. Those before an event
    /// that was delivered, refused or failed by itself cannot: they are retried on their own, but at one time, so that they stay in order.
    /// After any failure of the connection the delivery pauses, and also if no event was delivered or refused for good.
    private static func decide(
        _ answers: [DeliveryAnswer],
        _ dispositions: [Disposition],
        of batch: OutboxBatch,
        _ retryTime: (_ entry: OutboxBatch.Entry, _ least: Duration?) -> Timestamp
    ) -> (outcomes: [DeliveryOutcome], failures: [DeliveryFailure?], next: Next) {
        let sent = dispositions.prefix((dispositions.lastIndex { $0 != .unsent } ?? -1) + 1)
        let hasMoved = dispositions.contains { $0 == .delivered || $0 == .refused }
        let tail = hasMoved ? (dispositions.lastIndex { $0 != .held && $0 != .unsent } ?? -1) + 1 : 0
        let held = sent.indices.prefix(tail).filter { dispositions[$0] == .held }
        let oldest = held.max { batch.entries[$0].attempts < batch.entries[$1].attempts }
        let due = oldest.map { retryTime(batch.entries[$0], held.compactMap { answers[$0].retryAfter }.max()) }
        let outcomes = sent.enumerated().map { index, disposition -> DeliveryOutcome in
            switch disposition {
            case .delivered: return .delivered
            case .refused: return .dead
            case .failed, .held, .unsent:
                guard index < tail else { return .waiting }
                if let due, disposition != .failed, index >= held[0] { return .retry(at: due) }
                return .retry(at: retryTime(batch.entries[index], answers[index].retryAfter))
            }
        }
        var failures = sent.enumerated().map { index, disposition -> DeliveryFailure? in
            disposition == .delivered || disposition == .unsent ? nil : DeliveryFailure(answers[index])
        }
        let blocking = zip(answers, dispositions).filter { $1 == .held || (!hasMoved && $1 == .failed) }.map(\.0)
        guard !hasMoved || !blocking.isEmpty else { return (outcomes, failures, .proceed) }
        var failure = (blocking.first ?? answers.first).map { DeliveryFailure($0) } ?? .unanswered
        let ending = sent.indices.filter { dispositions[$0] == .held && answers[$0].code == .crashed }
        var suspect = failure.code == .timedOut || !ending.isEmpty ? Suspect.batch : .connection
        if dispositions.contains(.failed), !dispositions.contains(.held) { suspect = .everyEvent }
        if ending.count == 1, let index = ending.first {
            failure = DeliveryFailure(answers[index])
            failure.name(batch.entries[index])
            failures[index] = failure
            suspect = .event(batch.entries[index].id)
        }
        let least = blocking.compactMap(\.retryAfter).max()
        return (outcomes, failures, .pause(failure, atLeast: least, suspect))
    }

    /// What an answer says of its event.
    private enum Disposition {
        /// The vendor has it.
        case delivered
        /// The vendor refuses it for good.
        case refused
        /// It failed, for a reason that others need not share.
        case failed
        /// It failed with the connection, as others would.
        case held
        /// It was not sent.
        case unsent

        init(_ answer: DeliveryAnswer) {
            switch answer.outcome {
            case .accepted: self = .delivered
            case .rejected: self = (answer.code ?? .invalid).concernsConnection ? .held : .refused
            case .retry where answer.isUnsent: self = .unsent
            case .retry: self = (answer.code ?? .failed).concernsConnection ? .held : .failed
            }
        }
    }

    /// Whether the failure of a call concerns the connection rather than the call's events, at one leaf of a composite at least.
    private static func concernsConnection(_ error: ConnectorError) -> Bool {
        error.code.concernsConnection || error.outcomes.contains { $0.error.map(concernsConnection) ?? false }
    }
}

extension DeliveryFailure {
    /// The failure of a delivery without an answer.
    fileprivate static let unanswered = DeliveryFailure(.misbehaved, "no answer")

    /// Adds that an event was alone in the call during which the plugin's runner ended, and how to give it up.
    fileprivate mutating func name(_ entry: OutboxBatch.Entry) {
        reason += "; the call had only event \(entry.id.excerpt): if that ends the plugin each time, update the plugin"
        reason += ", or give the event up: connector-host outbox drop --queued ID"
    }

    fileprivate init(_ answer: DeliveryAnswer) {
        self.init(answer.code ?? .failed, answer.reason ?? answer.outcome.rawValue, asking: answer.retryAfter)
    }

    /// Names a failure, and the wait that the vendor asks for if that is long: nothing else explains why nothing is sent.
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
