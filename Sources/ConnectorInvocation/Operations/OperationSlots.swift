// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The slots of an ``OperationTable``, and which of them are free.
///
/// Address space is reserved for all of them at once, so that none ever moves and a late thread of a plugin always finds a slot
/// where an id says; memory is used by those that were ever taken.
///
/// `@unchecked Sendable`: the address is constant, and a slot is safe to share.
@safe
package final class OperationSlots: @unchecked Sendable {
    /// The most slots there can be.
    package let capacity: Int

    private let slots: UnsafeMutablePointer<OperationSlot>
    private let contents: UnsafeMutablePointer<OperationSlot.Content>
    /// For each slot that is free, the next one that is.
    private let links: UnsafeMutablePointer<Atomic<UInt32>>
    /// The free slot that is taken next, plus one, or 0; above it a count that tells an old head from the same one come back.
    private let head = Atomic<UInt64>(0)
    /// How many slots were ever taken.
    private let used = Atomic<Int>(0)
    private let growth = Mutex(())

    /// Nothing is taken.
    package init(capacity: Int) {
        self.capacity = capacity
        unsafe slots = .allocate(capacity: capacity)
        unsafe contents = .allocate(capacity: capacity)
        unsafe links = .allocate(capacity: capacity)
    }

    deinit {
        let count = used.load(ordering: .acquiring)
        unsafe slots.deinitialize(count: count)
        unsafe contents.deinitialize(count: count)
        unsafe links.deinitialize(count: count)
        unsafe slots.deallocate()
        unsafe contents.deallocate()
        unsafe links.deallocate()
    }

    /// The slots that were ever taken.
    package var indices: Range<Int> { 0..<used.load(ordering: .acquiring) }

    /// A slot that was taken before; nil if it never was.
    package func slot(at index: Int) -> UnsafeMutablePointer<OperationSlot>? {
        index < used.load(ordering: .acquiring) ? unsafe slots + index : nil
    }

    /// Takes a free slot; nil if there is none.
    package func take() -> (index: Int, slot: UnsafeMutablePointer<OperationSlot>)? {
        var known = head.load(ordering: .acquiring)
        while let index = Self.index(in: known) {
            let next = unsafe links[index].load(ordering: .relaxed)
            let new = ((known >> 32) + 1) << 32 | UInt64(next)
            let (isTaken, current) = head.weakCompareExchange(expected: known, desired: new, ordering: .acquiring)
            if isTaken { return unsafe (index, slots + index) }
            known = current
        }
        return unsafe takeNew()
    }

    /// Gives a slot back that was taken.
    package func giveBack(_ index: Int) {
        var known = head.load(ordering: .relaxed)
        while true {
            unsafe links[index].store(UInt32(truncatingIfNeeded: known), ordering: .relaxed)
            let new = known & ~0xFFFF_FFFF | UInt64(index + 1)
            let (isFree, current) = head.weakCompareExchange(expected: known, desired: new, ordering: .releasing)
            if isFree { return }
            known = current
        }
    }

    private func takeNew() -> (index: Int, slot: UnsafeMutablePointer<OperationSlot>)? {
        unsafe growth.withLock { _ in
            let index = used.load(ordering: .relaxed)
            guard index < capacity else { return nil }
            unsafe (links + index).initialize(to: Atomic(0))
            unsafe (contents + index).initialize(to: OperationSlot.Content())
            unsafe (slots + index).initialize(to: OperationSlot(content: contents + index))
            used.store(index + 1, ordering: .releasing)
            return unsafe (index, slots + index)
        }
    }

    private static func index(in head: UInt64) -> Int? {
        let number = Int(truncatingIfNeeded: head & 0xFFFF_FFFF)
        return number == 0 ? nil : number - 1
    }
}
