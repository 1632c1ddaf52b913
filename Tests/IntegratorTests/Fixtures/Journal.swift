// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Integrator
import Synchronization

/// What happened, in order.
final class Journal: Sendable {
    /// The lines so far.
    private let state = Mutex<[String]>([])

    /// The lines so far.
    var lines: [String] { state.withLock { $0 } }

    /// Adds a line.
    func note(_ line: String) { state.withLock { $0.append(line) } }
}

extension DeferredCall {
    /// Writes every phase of the call to a journal, after a name.
    func noted(in journal: Journal, as name: String) -> DeferredCall {
        onBeginning { journal.note("\(name) begins") }
            .onSuccess { journal.note("\(name) succeeds: \($0)") }
            .onFailure { journal.note("\(name) fails: \(type(of: $0))") }
            .onCompletion { journal.note("\(name) completes") }
    }
}
