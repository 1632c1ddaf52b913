// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A value that its copies share: however many members it has, a copy counts one reference.
///
/// For values that are read and passed on far more often than changed. A change makes another allocation, with a copy of everything.
@usableFromInline
package struct Shared<Value: Sendable>: Sendable {
    @usableFromInline
    final class Box: Sendable {
        @usableFromInline let value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    /// Moves a value to memory that copies share.
    @inlinable
    package init(_ value: Value) { box = Box(value) }

    /// The value.
    @inlinable
    package var value: Value {
        get { box.value }
        set { box = Box(newValue) }
    }

    /// Whether both are copies of one, neither changed since. Two that are not may still be equal.
    @inlinable
    package func isCopy(of other: Self) -> Bool { box === other.box }
}
