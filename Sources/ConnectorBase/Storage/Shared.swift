// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A value that its copies share: copying it costs one reference count, however many members it has.
///
/// For values that are read and passed on far more often than changed. A change copies the whole value to a new allocation.
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

    /// Whether both are copies of one value, and neither has changed since. If false, the values may still be equal.
    @inlinable
    package func isCopy(of other: Self) -> Bool { box === other.box }
}
