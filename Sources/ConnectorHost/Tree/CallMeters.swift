// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The meters of a connector's operations, by each name that callers have used.
///
/// A list that only grows, at its front, and is read without a lock and without counting references: a dictionary
/// behind a `Mutex` took an eighth of the time of a prompt call, this list takes a thirtieth. It holds few names, since
/// unknown ones share a meter.
///
/// A reader sees every entry that was published before it loaded ``newest``. If another caller adds its name meanwhile,
/// the reader misses it and calls ``add(_:_:)``, which looks again under the lock, so a name has one entry, whoever
/// comes first.
///
/// `@unchecked Sendable`: an entry is written before ``newest`` publishes it, never changes, and lives as long as the list.
@safe
final class CallMeters: @unchecked Sendable {
    @safe
    private struct Entry {
        let name: String
        let meter: Unmanaged<CallMeter>
        let next: UnsafeMutablePointer<Entry>?
    }

    /// The address of the newest entry; 0 for none.
    private let newest = Atomic<UInt>(0)
    /// Held while an entry is added.
    private let growth = Mutex(())

    deinit {
        var entry = unsafe first
        while let current = unsafe entry {
            unsafe entry = current.pointee.next
            unsafe current.pointee.meter.release()
            unsafe current.deinitialize(count: 1)
            unsafe current.deallocate()
        }
    }

    private var first: UnsafeMutablePointer<Entry>? {
        unsafe UnsafeMutablePointer(bitPattern: newest.load(ordering: .acquiring))
    }

    /// The meter for a name, which lives as long as this object.
    subscript(name: String) -> Unmanaged<CallMeter>? {
        var entry = unsafe first
        while let current = unsafe entry {
            if unsafe current.pointee.name == name { return unsafe current.pointee.meter }
            unsafe entry = current.pointee.next
        }
        return nil
    }

    /// Adds a meter for a name, unless another caller has done so meanwhile.
    ///
    /// - Returns: The meter for the name.
    func add(_ name: String, _ make: () -> CallMeter) -> Unmanaged<CallMeter> {
        unsafe growth.withLock { _ in
            if let known = unsafe self[name] { return unsafe known }
            let meter = unsafe Unmanaged.passRetained(make())
            let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
            unsafe entry.initialize(to: Entry(name: name, meter: meter, next: first))
            newest.store(UInt(bitPattern: entry), ordering: .releasing)
            return unsafe meter
        }
    }

    /// Every meter once: under its operation's own name, not under other names that callers used for it.
    var all: [CallMeter] {
        var meters: [CallMeter] = []
        var entry = unsafe first
        while let current = unsafe entry {
            let meter = unsafe current.pointee.meter.takeUnretainedValue()
            if unsafe current.pointee.name == meter.operation { meters.append(meter) }
            unsafe entry = current.pointee.next
        }
        return meters
    }
}
