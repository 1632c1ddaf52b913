// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorCapabilities

/// The answers to items that go to several of a vendor's endpoints, one endpoint after the other.
///
/// An endpoint that fails as a whole asks for a retry of its own items only. What follows an item that is to be repeated goes to no later
/// endpoint: there it would come before that item, whose older values would then replace newer ones. An item that one endpoint rejects is
/// retried, too, while another one cannot take it: the rejection stands once each endpoint has answered.
///
/// An item that was sent to one endpoint, but not yet to another, has had an attempt: otherwise it might go to the first one again and
/// again, and nobody would know.
package struct SteppedDelivery {
    private var answers: [DeliveryAnswer]
    /// The indices of the items that were sent to an endpoint.
    private var sent: Set<Int> = []
    /// The failure of the first endpoint that failed as a whole.
    private var failure: PluginError?

    /// Creates the answers to a number of items; an item that goes to no endpoint counts as accepted.
    package init(count: Int) {
        answers = Array(repeating: .accepted, count: count)
    }

    /// Delivers items to one endpoint.
    ///
    /// - Parameters:
    ///   - indices: The items for this endpoint.
    ///   - deliver: Delivers those of them that come before the first item to be repeated, and returns their answers in order.
    package mutating func add(_ indices: [Int], _ deliver: ([Int]) async throws -> [DeliveryAnswer]) async {
        let end = answers.firstIndex { $0.outcome == .retry } ?? answers.count
        for index in indices where index >= end && answers[index].outcome != .retry {
            answers[index] = .unsent("not sent: an event before it is to be repeated")
        }
        let fit = indices.filter { $0 < end }
        do {
            for (index, answer) in zip(fit, try await deliver(fit)) {
                if !answer.isUnsent { sent.insert(index) }
                if answer != .accepted { answers[index] = answer }
            }
        } catch {
            let error = PluginError(error)
            for index in fit { answers[index] = .retry(error) }
            failure = failure ?? error
        }
    }

    /// All answers.
    ///
    /// - Throws: The first failure of a whole endpoint, if no item was accepted.
    package func result() throws -> [DeliveryAnswer] {
        if let failure, !answers.contains(where: { $0.outcome == .accepted }) { throw failure }
        return zip(answers.indices, answers).map { index, answer in
            guard answer.isUnsent, sent.contains(index) else { return answer }
            let reason = answer.reason ?? "not sent"
            return .retry("one of the vendor's endpoints has answered, at another it was \(reason)", code: .timedOut)
        }
    }
}
