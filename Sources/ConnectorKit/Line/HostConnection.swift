// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The host as one instance sees it, until the instance is destroyed.
///
/// The connection counts the calls into the host. ``close()`` waits for calls on other threads and refuses later ones,
/// so a task that outlives its instance gets an error instead of touching freed memory.
@safe
final class HostConnection: @unchecked Sendable {
    // Sendable: `host` is a constant, nothing writes through it between `create` and `destroy`, its functions may be
    // called from any thread (host.h), and none is called once `close` has returned.
    private let host: UnsafePointer<connector_host>
    /// Twice the number of calls in progress, plus one once closed.
    private let usage = Atomic<Int>(0)
    /// The closures that end the waits for timers, by timer id; nil once closed.
    private let sleepers = Mutex<[UInt64: @Sendable () -> Void]?>([:])

    init(_ host: UnsafePointer<connector_host>) {
        unsafe self.host = unsafe host
    }

    /// Calls the host; nil if the instance is being destroyed.
    func use<Answer>(_ body: (UnsafePointer<connector_host>) -> Answer) -> Answer? {
        whileOpen { unsafe body(host) }
    }

    /// Calls a table of the host; nil if the instance is being destroyed.
    func whileOpen<Answer>(_ body: () -> Answer) -> Answer? {
        let before = usage.add(2, ordering: .acquiringAndReleasing).oldValue
        defer { usage.subtract(2, ordering: .releasing) }
        guard before & 1 == 0 else { return nil }
        return body()
    }

    /// Registers the wait for a timer, which ``close()`` ends.
    ///
    /// - Parameter end: Cancels the timer and ends the wait. Called at most once.
    /// - Returns: False if the connection is closed.
    func add(sleeper timer: UInt64, _ end: @escaping @Sendable () -> Void) -> Bool {
        sleepers.withLock { sleepers in
            guard sleepers != nil else { return false }
            sleepers?[timer] = end
            return true
        }
    }

    /// Forgets a wait that has ended.
    func remove(sleeper timer: UInt64) {
        sleepers.withLock { _ = $0?.removeValue(forKey: timer) }
    }

    /// Ends the waits for timers, refuses further calls, and returns once no call is in progress.
    ///
    /// Blocks the calling thread, but not for long: the host's functions block on nothing but the disk.
    func close() {
        let sleeping = sleepers.withLock { $0.take() } ?? [:]
        for end in sleeping.values { end() }
        _ = usage.bitwiseOr(1, ordering: .acquiringAndReleasing)
        while usage.load(ordering: .acquiring) != 1 { _ = sched_yield() }
    }

    /// The table of a host service; nil if the host does not lend it.
    ///
    /// - Parameter id: The service's name and version, such as `http/1`.
    func table<Table>(_ id: String, as type: Table.Type) -> UnsafePointer<Table>? {
        let pointer = unsafe use { host in
            var id = id
            return id.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { characters -> UnsafeRawPointer? in
                    guard let start = characters.baseAddress else { return nil }
                    return unsafe host.pointee.service(host.pointee.context, start, UInt64(characters.count))
                }
            }
        }
        return unsafe (pointer ?? nil)?.assumingMemoryBound(to: Table.self)
    }

    /// Completes a call.
    ///
    /// - Returns: Whether the host has taken the result. It refuses a late one.
    func complete(_ operation: UInt64, _ result: Result<[UInt8]?, PluginError>) -> Bool {
        switch result {
        case .success(let bytes):
            let status = unsafe (bytes ?? []).withUnsafeBufferPointer { buffer in
                unsafe use { host in
                    unsafe host.pointee.complete(
                        host.pointee.context,
                        operation,
                        Line.ok,
                        bytes == nil ? nil : buffer.baseAddress,
                        UInt64(buffer.count),
                        nil
                    )
                }
            }
            return status == Line.ok
        case .failure(let failure):
            var error = Line.emptyError
            let status = unsafe Line.write(failure, into: &error)
            let answer = unsafe use { host in
                unsafe host.pointee.complete(host.pointee.context, operation, status, nil, 0, &error)
            }
            return answer == Line.ok
        }
    }
}
