// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An object created on first use and immutable from then on.
///
/// `AtomicLazyReference` does the same but is not inlined: each load looks up generic metadata and retains the object, which
/// takes as long as a call.
package final class LazyReference<Object: AnyObject & Sendable>: Sendable {
    /// The address of the retained object; 0 until it is created.
    private let address = Atomic<UInt>(0)

    /// Creates an empty reference.
    package init() {}

    deinit {
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)) else { return }
        unsafe Unmanaged<Object>.fromOpaque(pointer).release()
    }

    /// Lends the object to the body, creating it if necessary. If two threads create it concurrently, both use the same object.
    @inline(__always)
    package func with<Result>(_ make: () -> Object, _ body: (Object) -> Result) -> Result {
        let known = address.load(ordering: .acquiring)
        let current = known == 0 ? store(make()) : known
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: current) else { return body(make()) }
        return unsafe Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
    }

    private func store(_ object: Object) -> UInt {
        let made = unsafe Unmanaged.passRetained(object)
        let new = UInt(bitPattern: unsafe made.toOpaque())
        let (isNew, old) = address.compareExchange(expected: 0, desired: new, ordering: .acquiringAndReleasing)
        if !isNew { unsafe made.release() }
        return isNew ? new : old
    }
}
