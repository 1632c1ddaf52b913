// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
package import ConnectorOneShot
internal import ConnectorPlatform
package import Logging
package import Synchronization

/// The host services as one instance of a plugin sees them: function tables, and what is under way for it.
///
/// Made before the instance, in this order: `table` whenever the plugin asks; ``close()`` once nothing more is wanted of the
/// instance, which cancels what is under way and returns when every callback has returned; `destroy` of the plugin;
/// ``invalidate()``, which frees the tables.
///
/// The tables' `context` is a pointer to this object, which retains itself with the first table and releases itself in
/// ``invalidate()``: the pointer is good for as long as the plugin may use it, whoever else forgets this object meanwhile.
package final class GateServices: InstanceServices {
    /// Shared with the other gates.
    package let host: HostServices
    /// Of the gate.
    package let context: Context
    /// The log, with the gate's path.
    package var logger: Logger { context.logger }
    /// Where requests may go.
    package let egress: EgressList
    /// Everything that changes.
    package let state = Mutex(GateServicesState())

    /// Serves a gate; nothing is started or allocated for it yet.
    package init(host: HostServices, context: Context) {
        self.host = host
        self.context = context
        egress = EgressList(context.egress)
    }

    /// The function table of a service, at the same address every time; null if there is none of that id, if the manifest
    /// does not name it, or after ``invalidate()``.
    ///
    /// - Parameter id: The bytes of the id, in any encoding that a plugin comes up with.
    package func table(_ id: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard id.count <= 64, let name = unsafe String(validating: id, as: UTF8.self) else { return nil }
        return unsafe table(named: name)
    }

    /// The function table of a service; see ``table(_:)``.
    package func table(named id: String) -> UnsafeRawPointer? {
        guard context.services.contains(id) else { return nil }
        let address = state.withLock { state -> UInt? in
            if let table = state.tables[id] { return table.address }
            guard !state.isInvalid, let table = makeTable(id) else { return nil }
            // Balanced in `invalidate`.
            if state.tables.isEmpty { _ = unsafe Unmanaged.passRetained(self) }
            state.tables[id] = table
            return table.address
        }
        guard let address else { return nil }
        return unsafe UnsafeRawPointer(bitPattern: address)
    }

    private func makeTable(_ id: String) -> ServiceTable? {
        let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
        return switch id {
        case "log/1": unsafe ServiceTable(LogService.table(context: pointer, level: logger.logLevel))
        case "clock/1": unsafe ServiceTable(ClockService.table(context: pointer))
        case "http/1": unsafe ServiceTable(HTTPService.table(context: pointer))
        case "events/1": unsafe ServiceTable(EventsService.table(context: pointer))
        case "storage/1": unsafe ServiceTable(StorageService.table(context: pointer))
        default: nil
        }
    }

    /// What the gate stores.
    package var storage: GateStorage { host.storage(of: context.path, logger: context.logger) }

    /// What went over the wire for this gate so far.
    package var counters: HTTPCounters { state.withLock { $0.counters } }

    // MARK: The end

    /// Cancels every timer and request, and returns when all callbacks into the plugin have returned.
    ///
    /// Each request that was under way ends as `done` with CONNECTOR_CANCELLED. From now on no timer and no request is
    /// accepted; log, time and storage go on until ``invalidate()``. May be called again.
    ///
    /// - Note: A plugin whose callback never returns keeps this waiting: give up on it by a deadline of your own, and then
    ///   do not call `destroy`.
    package func close() async {
        await stop()?.wait()
    }

    /// As ``close()``, without waiting.
    ///
    /// - Returns: What ends when all callbacks have returned; nil if none is under way.
    package func stop() -> OneShot<Void>? {
        let (timers, requests) = state.withLock { state in
            state.isClosed = true
            defer { state.timers = [:] }
            return (Array(state.timers.values), Array(state.requests.keys))
        }
        for case let timer? in timers.map(\.timer) { host.clock.cancel(timer) }
        for request in requests { endRequest(request, .failure(.cancelled("the gate closes"))) }
        return state.withLock { state in
            guard state.isDelivering else { return nil }
            let quiet = OneShot<Void>()
            state.waiters.append(quiet)
            return quiet
        }
    }

    /// Frees the tables; call it after `destroy` of the instance returned, or never.
    package func invalidate() {
        let tables = state.withLock { state in
            state.isClosed = true
            state.isInvalid = true
            defer { state.tables = [:] }
            return state.tables
        }
        guard !tables.isEmpty else { return }
        for table in tables.values { table.deallocate() }
        unsafe Unmanaged.passUnretained(self).release()
    }

    // MARK: Callbacks

    /// Runs a callback into the plugin on a thread made for that: one at a time for a gate, in order.
    package func deliver(_ callback: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.callbacks.append(callback)
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if isIdle { host.callbacks.run { self.runCallbacks() } }
    }

    private func runCallbacks() {
        while let callback = nextCallback() { callback() }
    }

    private func nextCallback() -> (@Sendable () -> Void)? {
        let step = state.withLock { $0.nextCallback() }
        for waiter in step.waiters { waiter.send() }
        return step.callback
    }
}
