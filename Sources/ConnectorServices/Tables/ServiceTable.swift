// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A function table on the heap, where a plugin finds it until it is freed.
package struct ServiceTable: Sendable {
    /// Where it lies.
    package let address: UInt

    /// Copies a table to the heap.
    package init<Table: BitwiseCopyable>(_ table: Table) {
        let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        unsafe pointer.initialize(to: table)
        address = UInt(bitPattern: pointer)
    }

    /// Frees it; once.
    package func deallocate() {
        unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }
}
