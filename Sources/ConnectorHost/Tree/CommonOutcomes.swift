// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// The outcomes of the leaves that one call reaches through several composites: each leaf is called once.
final class CommonOutcomes: Sendable {
    private let leaves: Set<Int>
    private let outcomes = Mutex<[Int: OneShot<ConnectorAnswer.Outcome>]>([:])

    /// Prepares a call.
    ///
    /// - Parameter leaves: The leaves that are below several composites with the policy `all`.
    init(_ leaves: Set<Int>) {
        self.leaves = leaves
    }

    /// Returns the outcome of a leaf: the first caller makes the call, and all others await its outcome.
    func outcome(
        of leaf: Int,
        _ call: () async -> ConnectorAnswer.Outcome
    ) async -> ConnectorAnswer.Outcome {
        guard leaves.contains(leaf) else { return await call() }
        let (outcome, isFirst) = outcomes.withLock { outcomes in
            if let outcome = outcomes[leaf] { return (outcome, false) }
            let outcome = OneShot<ConnectorAnswer.Outcome>()
            outcomes[leaf] = outcome
            return (outcome, true)
        }
        if isFirst { outcome.send(await call()) }
        return await outcome.wait()
    }
}
