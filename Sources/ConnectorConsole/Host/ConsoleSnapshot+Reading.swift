// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
internal import ConnectorHost

extension ConsoleSnapshot {
    /// The snapshot for an operator who may look but not act: without the calls of others and their results, without the values of
    /// `config`, and without a plan.
    package var forReaders: ConsoleSnapshot {
        var snapshot = self
        snapshot.permitsActs = false
        snapshot.calls = [:]
        for leaf in snapshot.leaves.indices {
            for field in snapshot.leaves[leaf].fields.indices { snapshot.leaves[leaf].fields[field].value = .withheld }
        }
        snapshot.plan = nil
        snapshot.earlierPlans = []
        snapshot.earlierLetters = []
        return snapshot
    }
}
