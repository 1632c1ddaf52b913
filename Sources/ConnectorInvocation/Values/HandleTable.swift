// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The addresses that a gate's library gave out, each under a small number.
///
/// Only the numbers leave the process or appear in JSON, so no caller can make up an address.
package final class HandleTable: Sendable {
    private struct State {
        var addresses: [Int64: UInt] = [:]
        var numbers: [UInt: Int64] = [:]
        var last: Int64 = 0
    }

    private let state = Mutex(State())

    /// The number of an address, assigned on first use.
    package func number(_ address: UInt) -> Int64 {
        state.withLock { state in
            if let number = state.numbers[address] { return number }
            state.last += 1
            state.numbers[address] = state.last
            state.addresses[state.last] = address
            return state.last
        }
    }

    /// Withdraws an address, which invalidates its number.
    ///
    /// - Returns: Whether the address was given out and not withdrawn before.
    package func withdraw(_ address: UInt) -> Bool {
        state.withLock { state in
            guard let number = state.numbers.removeValue(forKey: address) else { return false }
            state.addresses[number] = nil
            return true
        }
    }

    /// The address behind a number; nil if no address has it.
    package func address(_ number: Int64) -> UInt? {
        state.withLock { $0.addresses[number] }
    }
}
