// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Represents the handles of a gate's library in JSON as numbers, so that no caller can forge an address.
///
/// No two instances share a number, so one from an earlier instance of a gate means nothing to the next.
package protocol HandleNumbering: Sendable {
    /// The number of an address, assigned on first use.
    func number(_ address: UInt) -> Int64

    /// The address with a number; nil if there is none.
    func address(_ number: Int64) -> UInt?
}

/// The addresses returned by a gate's library in this process.
package final class HandleTable: HandleNumbering {
    private struct State {
        var addresses: [Int64: UInt] = [:]
        var numbers: [UInt: Int64] = [:]
    }

    private static let lastNumber = Atomic<Int64>(0)

    private let state = Mutex(State())

    /// Creates an empty table.
    package init() {}

    package func number(_ address: UInt) -> Int64 {
        state.withLock { state in
            if let number = state.numbers[address] { return number }
            let number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
            state.numbers[address] = number
            state.addresses[number] = address
            return number
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

    package func address(_ number: Int64) -> UInt? {
        state.withLock { $0.addresses[number] }
    }
}
