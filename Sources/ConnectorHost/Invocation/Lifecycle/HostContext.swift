// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorManifest
internal import Synchronization

/// What stands behind the `connector_host` that one instance of a plugin was given.
///
/// It is never freed: a thread of the plugin that is late may still hold the table after `destroy`, and is to be answered, not
/// to crash the host. For the same reason a call may find the instance through it without any lock: see ``admitNow()``. That
/// costs about 400 bytes for every instance that ever was.
///
/// `@unchecked Sendable`: `table` is written in `init`, and `instance` by ``keep(_:)``, before any other thread can know of it, and
/// only read afterwards; everything else is `Sendable` or behind the mutex.
@safe
final class HostContext: @unchecked Sendable {
    /// Tells this instance's calls from those of all others.
    let owner: UInt64
    /// What the plugin receives.
    let table: UnsafeMutablePointer<connector_host>
    /// Counts who is inside the instance.
    let life = InstanceLife()

    /// Retained from ``keep(_:)`` to ``release()``: whoever is counted in, or has not been turned away, finds it alive.
    private var instance: Unmanaged<PluginInstance>?
    private let operations: OperationTable
    private let onMisbehaviour: @Sendable (String) -> Void
    /// What the plugin is lent; nil once the instance is being destroyed.
    private let services: Mutex<GateServices?>

    private static let lastOwner = Atomic<UInt64>(0)

    /// Makes a context that stays.
    ///
    /// - Parameters:
    ///   - operations: Where calls are pending.
    ///   - services: What `service` answers from, until ``withdraw()``.
    ///   - onMisbehaviour: Told of every rule of the ABI that the plugin breaks, on the plugin's thread.
    init(
        operations: OperationTable,
        services: GateServices,
        onMisbehaviour: @escaping @Sendable (String) -> Void
    ) {
        self.owner = Self.lastOwner.add(1, ordering: .relaxed).newValue
        self.operations = operations
        self.services = Mutex(services)
        self.onMisbehaviour = onMisbehaviour
        unsafe self.table = .allocate(capacity: 1)
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe table.initialize(
            to: connector_host(
                struct_size: UInt32(MemoryLayout<connector_host>.size),
                abi_version: UInt32(CONNECTOR_ABI_VERSION),
                context: context,
                service: { context, id, length in
                    unsafe HostContext.from(context)._withUnsafeGuaranteedRef { unsafe $0.service(id, length) }
                },
                complete: { context, operation, status, result, length, error in
                    unsafe HostContext.from(context)._withUnsafeGuaranteedRef {
                        unsafe $0.complete(operation, status, result, length, error)
                    }
                },
                progress: { context, operation, json, length in
                    unsafe HostContext.from(context)._withUnsafeGuaranteedRef {
                        unsafe $0.progress(operation, json, length)
                    }
                }
            )
        )
    }

    /// Keeps the instance until ``release()``; called once, before anybody else knows of it.
    func keep(_ instance: PluginInstance) {
        unsafe self.instance = .passRetained(instance)
    }

    /// Lets the instance go, which was destroyed; called once, after which nobody gets in.
    func release() {
        unsafe instance?.release()
    }

    /// Lets an operation in if nobody has to wait for that.
    ///
    /// - Returns: The right to be inside, to be ended exactly once; nil if the gate closes or a `serial` one is taken.
    func admitNow() -> Admission? {
        guard let instance = unsafe instance else { return nil }
        guard life.enter(isOperation: true) else {
            // It may be gone by now, unless it is for this thread to destroy it.
            if life.leave() { unsafe instance._withUnsafeGuaranteedRef { $0.destroy() } }
            return nil
        }
        let hasTurn = unsafe instance._withUnsafeGuaranteedRef { $0.takeTurnNow() }
        return hasTurn ? unsafe Admission(instance) : nil
    }

    /// From now on there are no services and no calls to answer late: the instance is being destroyed.
    func withdraw() {
        services.withLock { $0 = nil }
        operations.release(owner: owner)
    }

    /// Notes a rule that the plugin broke elsewhere than in a callback.
    func misbehaved(_ what: String) { onMisbehaviour(what) }

    private static func from(_ context: UnsafeMutableRawPointer) -> Unmanaged<HostContext> {
        unsafe Unmanaged<HostContext>.fromOpaque(context)
    }

    /// The longest id of a service.
    private static let longestServiceID: UInt64 = 64
    /// The longest result of an operation, and the longest progress: 64 MiB.
    private static let longestResult: UInt64 = 64 << 20

    private func service(_ id: UnsafePointer<CChar>, _ length: UInt64) -> UnsafeRawPointer? {
        guard length <= Self.longestServiceID else { return nil }
        let name = unsafe String(decoding: UnsafeRawBufferPointer(start: id, count: Int(length)), as: UTF8.self)
        let services = services.withLock { $0 }
        return unsafe services?.table(named: name)
    }

    private func complete(
        _ operation: UInt64,
        _ status: Int32,
        _ result: UnsafePointer<UInt8>?,
        _ length: UInt64,
        _ error: UnsafePointer<connector_error>?
    ) -> Int32 {
        let outcome = unsafe Self.outcome(status, result, length, error)
        return answer(operations.complete(operation, owner: owner, consume outcome), "completed", operation)
    }

    /// What a plugin completed a call with.
    private static func outcome(
        _ status: Int32,
        _ result: UnsafePointer<UInt8>?,
        _ length: UInt64,
        _ error: UnsafePointer<connector_error>?
    ) -> OperationTable.Outcome {
        guard status == Int32(CONNECTOR_OK) else {
            return .failure(
                ConnectorError(status: status, error: unsafe error?.pointee, attempting: "the operation")
            )
        }
        guard length <= longestResult else {
            return .failure(
                ConnectorError(
                    .tooLarge,
                    "the plugin's result has \(length) bytes, more than \(longestResult >> 20) MiB"
                )
            )
        }
        if length > 0, unsafe result == nil {
            return .failure(ConnectorError(.misbehaved, "the plugin's result has a length but no bytes"))
        }
        return .success(unsafe [UInt8](UnsafeBufferPointer(start: result, count: Int(length))))
    }

    private func progress(_ operation: UInt64, _ json: UnsafePointer<CChar>, _ length: UInt64) -> Int32 {
        guard length <= Self.longestResult else { return Int32(CONNECTOR_TOO_LARGE) }
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: json, count: Int(length)))
        guard let value = try? JSONValue(parsing: bytes) else {
            onMisbehaviour("reported progress that is not JSON")
            return Int32(CONNECTOR_MISUSE)
        }
        return answer(operations.progress(operation, owner: owner, value), "reported progress of", operation)
    }

    private func answer(_ answer: OperationTable.Answer, _ did: String, _ operation: UInt64) -> Int32 {
        switch answer {
        case .accepted: return Int32(CONNECTOR_OK)
        case .givenUp: return Int32(CONNECTOR_UNKNOWN_OPERATION)
        case .unknown:
            let isDestroyed = services.withLock { $0 == nil }
            let why = isDestroyed ? " after it was destroyed" : ", which is not pending"
            onMisbehaviour("\(did) operation \(operation)\(why)")
            return Int32(CONNECTOR_UNKNOWN_OPERATION)
        case .foreign:
            onMisbehaviour("\(did) operation \(operation), which belongs to another gate")
            return Int32(CONNECTOR_FOREIGN_OPERATION)
        }
    }
}
