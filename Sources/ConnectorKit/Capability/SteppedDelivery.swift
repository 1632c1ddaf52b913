// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorCapabilities

/// The answers to items that go to several of a vendor's endpoints, one endpoint after the other.
///
/// An endpoint that fails as a whole asks for a retry of its own items only. An item that one endpoint rejects is retried, too, while
/// another one cannot take it: the rejection stands once each endpoint has answered.
package struct SteppedDelivery {
    private var answers: [DeliveryAnswer]
    /// The failure of the first endpoint that failed as a whole.
    private var failure: PluginError?

    /// Creates the answers to a number of items; an item that goes to no endpoint counts as accepted.
    package init(count: Int) {
        answers = Array(repeating: .accepted, count: count)
    }

    /// Delivers the items at these indices to one endpoint.
    package mutating func add(_ indices: [Int], _ deliver: () async throws -> [DeliveryAnswer]) async {
        do {
            for (index, answer) in zip(indices, try await deliver()) where answer != .accepted {
                // A failure says more than that an earlier endpoint had no time for the item.
                let isOpen = answers[index].outcome != .retry || (answers[index].isUnsent && answer.outcome == .retry)
                if isOpen { answers[index] = answer }
            }
        } catch {
            let error = PluginError(error)
            for index in indices { answers[index] = .retry(error) }
            failure = failure ?? error
        }
    }

    /// All answers.
    ///
    /// - Throws: The first failure of a whole endpoint, if no item was accepted.
    package func result() throws -> [DeliveryAnswer] {
        guard let failure, !answers.contains(where: { $0.outcome == .accepted }) else { return answers }
        throw failure
    }
}
