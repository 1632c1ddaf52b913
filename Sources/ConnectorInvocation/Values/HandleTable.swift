// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The addresses returned by a gate's library, each with a small number.
///
/// Only the numbers appear in JSON or leave the process, so no caller can forge an address.
package final class HandleTable: Sendable {
    private struct State {
        var addresses: [Int64: UInt] = [:]
        var numbers: [UInt: Int64] = [:]
        var last: Int64 = 0
    }

    private let state = Mutex(State())
    private let isElsewhere: Bool

    /// Creates an empty table.
    ///
    /// - Parameter isElsewhere: Whether another process has the table, and its numbers are all that is known here.
    package init(isElsewhere: Bool = false) {
        self.isElsewhere = isElsewhere
    }

    /// The number of an address, assigned on first use.
    package func number(_ address: UInt) -> Int64 {
        guard !isElsewhere else { return Int64(clamping: address) }
        return state.withLock { state in
            if let number = state.numbers[address] { return number }
            state.last += 1
            state.numbers[address] = state.last
            state.addresses[state.last] = address
            return state.last
        }
    }

    /// Withdraws an address, which invalidates its number.
    ///
    /// - Returns: Whether the address had a number.
    package func withdraw(_ address: UInt) -> Bool {
        state.withLock { state in
            guard let number = state.numbers.removeValue(forKey: address) else { return false }
            state.addresses[number] = nil
            return true
        }
    }

    /// The address with a number; nil if there is none.
    package func address(_ number: Int64) -> UInt? {
        isElsewhere ? UInt(exactly: number) : state.withLock { $0.addresses[number] }
    }
}
