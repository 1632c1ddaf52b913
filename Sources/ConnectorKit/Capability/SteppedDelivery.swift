// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorCapabilities

/// The answers to items that go to several places of a vendor, one after the other. What one place refuses altogether does not
/// repeat what another has taken.
package struct SteppedDelivery {
    private var answers: [DeliveryAnswer]
    /// Why the first place failed that did.
    private var failure: PluginError?

    /// Creates the answers to a number of items: an item that goes to no place is accepted.
    package init(count: Int) {
        answers = Array(repeating: .accepted, count: count)
    }

    /// Delivers the items at some indices to one place.
    package mutating func add(_ indices: [Int], _ deliver: () async throws -> [DeliveryAnswer]) async {
        do {
            for (index, answer) in zip(indices, try await deliver()) where answer != .accepted {
                answers[index] = answer
            }
        } catch {
            let error = PluginError(error)
            for index in indices { answers[index] = .retry(error.message, code: error.status.code) }
            failure = failure ?? error
        }
    }

    /// All answers.
    ///
    /// - Throws: The failure of a place, if no item was accepted.
    package func result() throws -> [DeliveryAnswer] {
        guard let failure, !answers.contains(where: { $0.outcome == .accepted }) else { return answers }
        throw failure
    }
}
