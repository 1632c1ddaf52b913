// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorInvocation

extension ConnectorAnswer {
    /// The outcome of each event or report of a batch.
    ///
    /// A composite that called every child accepts an event if enough children accepted it. Otherwise the event is
    /// retried if that may succeed, and rejected if not.
    ///
    /// - Parameter count: The number of events or reports in the batch.
    /// - Throws: The fault, if a plugin's answer is malformed.
    func deliveries(count: Int) throws(ConnectorError) -> [DeliveryAnswer] {
        guard let policy = requirement?.policy, let isRequired = requirement?.isRequired else {
            if let batchAnswers, batchAnswers.count == count { return batchAnswers }
            var answers = try read { () throws(ConnectorError) in
                try DeliveryAnswer.answers(text: result.text, count: count)
            }
            for index in answers.indices { answers[index].reason = answers[index].reason.map(redactor.redact) }
            return answers
        }
        var columns: [[DeliveryAnswer]] = []
        for child in children {
            switch child.outcome {
            case .success(let answer): columns.append(try answer.deliveries(count: count))
            case .failure(let error): columns.append(Array(repeating: DeliveryAnswer(error), count: count))
            }
        }
        return (0..<count).map { index in
            let answers = columns.map { $0[index] }
            func isEnough(_ outcomes: Set<DeliveryAnswer.Outcome>) -> Bool {
                policy.isSatisfied(by: zip(answers, isRequired).map { (outcomes.contains($0.outcome), $1) })
            }
            let accepted = answers.first { $0.outcome == .accepted }
            if let accepted, isEnough([.accepted]) { return accepted }
            let others = zip(children, answers).filter { $1.outcome != .accepted }
            let reason = others.map { "\($0.path): \($1.reason ?? $1.outcome.rawValue)" }.joined(separator: "; ")
            let code = others.first?.1.code
            guard isEnough([.accepted, .retry]) else { return .rejected(reason, code: code ?? .invalid) }
            // Only an event that every child has yet to send is sent at once.
            let waiting = others.map(\.1).filter { $0.outcome == .retry }
            guard let failed = waiting.first(where: { !$0.isUnsent }) else { return .unsent(reason) }
            return .retry(reason, after: waiting.longestWait, code: failed.code ?? .unavailable)
        }
    }
}

extension ConnectorAnswer {
    /// The error of a connector that accepted no event of a batch and asks for a retry of all, so that another may
    /// accept them; nil for any other answer.
    func postponement(of call: Node.Call) -> ConnectorError? {
        guard call.operation == "deliver" || call.operation.hasSuffix("/deliver"),
            let count = (try? resultJSON())?.array?.count, count > 0, let answers = try? deliveries(count: count),
            answers.allSatisfy({ $0.outcome == .retry })
        else { return nil }
        let answer = answers.first { !$0.isUnsent } ?? answers[0]
        return ConnectorError(
            answer.code ?? .unavailable,
            answer.reason ?? "the connector asked for a retry",
            connector: result.gate,
            isRetryable: true,
            retryAfter: answers.longestWait
        )
    }
}

extension [DeliveryAnswer] {
    /// The longest wait that a vendor asks for, if any does.
    fileprivate var longestWait: Duration? { compactMap(\.retryAfter).filter { $0 > .zero }.max() }

    /// The longest wait that a vendor asks for other events, too, and not only for one that failed by itself.
    var waitOfConnection: Duration? { filter { $0.code?.concernsConnection == true }.longestWait }
}

extension DeliveryAnswer {
    /// The outcome of each event in a batch whose call failed. Only a fault of the event itself rejects it.
    init(_ error: ConnectorError) {
        self = error.condemnsContent ? .rejected(error.message, code: error.code) : .retry(error)
    }

    /// The outcome of an event whose call failed and may succeed later. A vendor's wait of zero does not make it ``unsent(_:)``.
    static func retry(_ error: ConnectorError) -> DeliveryAnswer {
        .retry(error.message, after: error.retryAfter == .zero ? nil : error.retryAfter, code: error.codeOfDelivery)
    }
}

extension ConnectorError {
    /// The code that tells whether other events would fail like this one. If the leaves of a composite failed differently, its own code
    /// does not. A call that a runner's end kept from being sent says nothing of its event.
    fileprivate var codeOfDelivery: Code {
        if code == .crashed { return hasEndedRunner ? .crashed : .unavailable }
        guard code == .failed || code == .partial else { return code }
        let errors = outcomes.compactMap(\.error)
        let first =
            errors.first(where: \.hasEndedRunner) ?? errors.first { $0.code == .timedOut }
            ?? errors.first { !$0.concernsContent }
        return first?.codeOfDelivery ?? code
    }
}
