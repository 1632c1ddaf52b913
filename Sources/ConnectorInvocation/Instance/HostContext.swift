// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// The `connector_host` table of one instance, through which the plugin calls back.
///
/// A plugin's thread may call the host long after its instance was destroyed, and must still get a response. So contexts are
/// never freed. They are reused, least recently returned first, and only while more than a thousand are unused. A late call
/// finds its own context for a thousand generations, and after that another instance's, where its operations are unknown. A
/// returned context retains only the misbehaviour handler, which refers to its gate weakly.
///
/// `@unchecked Sendable`: the table is written in `init` and then only read. Everything else is atomic, protected by a mutex, or
/// constant and `Sendable`.
@safe
package final class HostContext: @unchecked Sendable {
    /// The owner id of this instance's calls, unique to each loan of the context.
    package var owner: UInt64 { number.load(ordering: .relaxed) }
    /// The table that the plugin receives.
    package let table: UnsafeMutablePointer<connector_host>

    private let number = Atomic<UInt64>(0)
    private let operations = OperationTable.shared
    private let loan = Mutex<Loan?>(nil)

    /// The services and the misbehaviour handler of the current instance.
    private struct Loan {
        /// Nil once the instance is destroyed.
        var services: (any InstanceServices)?
        let onMisbehaviour: @Sendable (String) -> Void
    }

    private static let lastOwner = Atomic<UInt64>(0)
    private static let returned = Mutex<[HostContext]>([])
    /// The minimum number of unused contexts before one is reused.
    private static let retainedCount = 1024

    /// Lends a context to a new instance.
    ///
    /// - Parameters:
    ///   - services: The services that the table's `service` looks up, until ``giveBack()``.
    ///   - onMisbehaviour: Receives every violation of the ABI, on the plugin's thread. Must refer to its gate weakly.
    /// - Returns: The context; call ``giveBack()`` after the instance is destroyed.
    package static func lend(
        to services: any InstanceServices,
        onMisbehaviour: @escaping @Sendable (String) -> Void
    ) -> HostContext {
        let reused = returned.withLock { $0.count > retainedCount ? $0.removeFirst() : nil }
        let context = reused ?? HostContext()
        context.number.store(lastOwner.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
        context.loan.withLock { $0 = Loan(services: services, onMisbehaviour: onMisbehaviour) }
        return context
    }

    private init() {
        unsafe table = .allocate(capacity: 1)
        // Never released: a plugin may keep the address.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe table.initialize(
            to: connector_host(
                struct_size: UInt32(MemoryLayout<connector_host>.size),
                abi_version: UInt32(CONNECTOR_ABI_VERSION),
                context: context,
                service: fitting(Self.service),
                complete: fitting(Self.complete),
                progress: fitting(Self.progress)
            )
        )
    }

    private static let service:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64) -> UnsafeRawPointer? = {
            context,
            id,
            length in
            unsafe from(context)?._withUnsafeGuaranteedRef { unsafe $0.service(id, length) }
        }

    private static let complete:
        @convention(c) (
            UnsafeMutableRawPointer?, UInt64, Int32, UnsafePointer<UInt8>?, UInt64, UnsafePointer<connector_error>?
        ) -> Int32 = { context, operation, status, result, length, error in
            guard let context = unsafe from(context) else { return Int32(CONNECTOR_MISUSE) }
            return unsafe context._withUnsafeGuaranteedRef {
                unsafe $0.complete(operation, status, result, length, error)
            }
        }

    private static let progress:
        @convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafePointer<CChar>?, UInt64) -> Int32 = {
            context,
            operation,
            json,
            length in
            guard let context = unsafe from(context) else { return Int32(CONNECTOR_MISUSE) }
            return unsafe context._withUnsafeGuaranteedRef { unsafe $0.progress(operation, json, length) }
        }

    /// Returns the context after the instance is destroyed; call once per loan.
    package func giveBack() {
        loan.withLock { $0?.services = nil }
        operations.forget(owner: owner)
        Self.returned.withLock { $0.append(self) }
    }

    /// Reports a violation of the ABI.
    package func misbehaved(_ what: String) {
        loan.withLock(\.self)?.onMisbehaviour(what)
    }

    /// Reports a function that has not returned in time, unless the system has too few threads left: it may wait for one.
    package func overran(_ what: String) {
        if HostThread.shortage == nil { misbehaved(what) }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Unmanaged<HostContext>? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<HostContext>.fromOpaque(context)
    }

    /// The maximum length of a service id, in bytes.
    private static let maximumServiceIDLength: UInt64 = 64
    /// The maximum size of a progress value: 64 KiB.
    private static let maximumProgressSize: UInt64 = 64 << 10
    /// The maximum size of a result: 64 MiB.
    private static let maximumResultSize: UInt64 = 64 << 20

    private func service(_ id: UnsafePointer<CChar>?, _ length: UInt64) -> UnsafeRawPointer? {
        guard let id = unsafe id else {
            misbehaved("requested a service with a null name")
            return nil
        }
        guard length <= Self.maximumServiceIDLength else { return nil }
        let name = unsafe String(decoding: UnsafeRawBufferPointer(start: id, count: Int(length)), as: UTF8.self)
        let services = loan.withLock(\.self)?.services
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
        let status = answer(operations.complete(operation, owner: owner, consume outcome), "completed", operation)
        guard status == Int32(CONNECTOR_OK), length > 0, unsafe result == nil else { return status }
        misbehaved("completed operation \(operation) with a null result of \(length) bytes")
        return Int32(CONNECTOR_MISUSE)
    }

    /// Converts the arguments of a completion to an outcome.
    private static func outcome(
        _ status: Int32,
        _ result: UnsafePointer<UInt8>?,
        _ length: UInt64,
        _ error: UnsafePointer<connector_error>?
    ) -> OperationTable.Outcome {
        guard status == Int32(CONNECTOR_OK) else {
            return .failure(
                unsafe ConnectorError(status: status, reading: error, attempting: "the operation")
            )
        }
        guard length <= maximumResultSize else {
            return .failure(
                ConnectorError(
                    .tooLarge,
                    "the plugin's result has \(length) bytes, more than \(maximumResultSize >> 20) MiB"
                )
            )
        }
        if length > 0, unsafe result == nil {
            return .failure(ConnectorError(.misbehaved, "the plugin's result has a length but no bytes"))
        }
        return .success(unsafe [UInt8](UnsafeBufferPointer(start: result, count: Int(length))))
    }

    private func progress(_ operation: UInt64, _ json: UnsafePointer<CChar>?, _ length: UInt64) -> Int32 {
        guard length <= Self.maximumProgressSize else { return Int32(CONNECTOR_TOO_LARGE) }
        guard let json = unsafe json else {
            misbehaved("reported null progress")
            return Int32(CONNECTOR_MISUSE)
        }
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: json, count: Int(length)))
        guard let value = try? JSONValue(parsing: bytes) else {
            misbehaved("reported progress that is not JSON")
            return Int32(CONNECTOR_MISUSE)
        }
        return answer(operations.progress(operation, owner: owner, value), "reported progress of", operation)
    }

    private func answer(_ answer: OperationTable.Answer, _ action: String, _ operation: UInt64) -> Int32 {
        switch answer {
        case .accepted: return Int32(CONNECTOR_OK)
        case .givenUp: return Int32(CONNECTOR_UNKNOWN_OPERATION)
        case .unknown:
            let isDestroyed = loan.withLock { $0?.services == nil }
            let reason = isDestroyed ? " after it was destroyed" : ", which is not pending"
            misbehaved("\(action) operation \(operation)\(reason)")
            return Int32(CONNECTOR_UNKNOWN_OPERATION)
        case .foreign:
            misbehaved("\(action) operation \(operation), which belongs to another gate")
            return Int32(CONNECTOR_FOREIGN_OPERATION)
        }
    }
}
