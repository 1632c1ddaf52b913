// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
package import ConnectorOneShot
internal import ConnectorPlatform
package import Logging
package import Synchronization

/// The host services of one plugin instance: its function tables, timers, requests and callbacks.
///
/// It is created before the instance. The plugin calls `table` as often as it likes. ``stopAndAwaitCallbacks()`` then
/// cancels timers and requests and waits for every callback. The plugin's `destroy` follows. Last, ``invalidate()``
/// frees the tables.
///
/// The tables' `context` points to this object, which retains itself with the first table and releases itself in
/// ``invalidate()``. So the pointer is valid as long as the plugin may use it.
package final class GateServices: InstanceServices {
    /// The parts shared with other gates.
    package let host: HostServices
    /// The gate's path, secrets and limits.
    package let context: Context
    /// The log, tagged with the gate's path.
    package var logger: Logger { context.logger }
    /// The hosts that requests may reach.
    package let egress: EgressList
    /// The mutable state.
    package let state = Mutex(GateServicesState())

    /// Creates the services of a gate without starting or allocating anything.
    package init(host: HostServices, context: Context) {
        self.host = host
        self.context = context
        egress = EgressList(context.egress)
    }

    /// The function table of a service, always at the same address.
    ///
    /// Null if there is no service of that id, if the manifest does not name it, and after ``invalidate()``.
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

    /// The gate's stored values.
    package var storage: GateStorage { host.storage(of: context.path, logger: context.logger) }

    /// The gate's traffic so far.
    package var counters: HTTPCounters { state.withLock { $0.counters } }

    // MARK: The end

    /// Cancels every timer and request, and returns when all callbacks into the plugin have returned.
    ///
    /// Each pending request completes with CONNECTOR_CANCELLED. From now on timers and requests are refused; log, time
    /// and storage work until ``invalidate()``. May be called again.
    ///
    /// - Note: This waits forever for a callback that never returns. Give up at a deadline of your own, and then do not
    ///   call `destroy`.
    package func stopAndAwaitCallbacks() async {
        await stop()?.wait()
    }

    /// Cancels every timer and request, without waiting for callbacks.
    ///
    /// - Returns: The event that all callbacks have returned; nil if none is under way.
    package func stop() -> OneShot<Void>? {
        let (timers, requests) = state.withLock { state in
            state.isStopped = true
            defer { state.timers = [:] }
            return (Array(state.timers.values), Array(state.requests.keys))
        }
        for case let timer? in timers.map(\.timer) { host.clock.cancel(timer) }
        for request in requests { completeRequest(request, .failure(.cancelled("the gate closes"))) }
        return state.withLock { state in
            guard state.isDelivering else { return nil }
            let quiet = OneShot<Void>()
            state.waiters.append(quiet)
            return quiet
        }
    }

    /// Frees the tables. Call it after the instance's `destroy` has returned, or never.
    package func invalidate() {
        let tables = state.withLock { state in
            state.isStopped = true
            state.isInvalid = true
            defer { state.tables = [:] }
            return state.tables
        }
        guard !tables.isEmpty else { return }
        for table in tables.values { table.deallocate() }
        unsafe Unmanaged.passUnretained(self).release()
    }

    // MARK: Callbacks

    /// Queues a callback into the plugin. A gate's callbacks run one at a time, in order, on a callback thread.
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
