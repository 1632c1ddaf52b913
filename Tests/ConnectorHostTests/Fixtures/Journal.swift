// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Values that several threads put down.
final class Journal<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])

    /// Everything so far.
    var values: [Value] { state.withLock(\.self) }

    /// Puts one down.
    func note(_ value: Value) { state.withLock { $0.append(value) } }
}
