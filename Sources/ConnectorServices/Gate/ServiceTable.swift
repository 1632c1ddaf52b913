// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A function table on the heap, valid until it is freed.
package struct ServiceTable: Sendable {
    /// The address of the table.
    package let address: UInt

    /// Copies a table to the heap.
    package init<Table: BitwiseCopyable>(_ table: Table) {
        let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        unsafe pointer.initialize(to: table)
        address = UInt(bitPattern: pointer)
    }

    /// Frees the table; call it once.
    package func deallocate() {
        unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }
}
