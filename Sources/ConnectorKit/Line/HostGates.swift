// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The host's `gates/1`.
@safe
struct HostGates: GateService, @unchecked Sendable {
    // Sendable: the table is constant until `destroy` (host.h), its functions may be called from any thread (gates.h), and
    // the connection refuses calls afterwards.
    private let connection: HostConnection
    private let table: UnsafePointer<connector_gates>
    private let clock: any ClockService
    /// Whether the table has `bound`; an older host refuses manifests with optional uses. Read before `destroy` can free the table.
    private let hasBound: Bool

    init(_ connection: HostConnection, _ table: UnsafePointer<connector_gates>, clock: any ClockService) {
        self.connection = connection
        unsafe self.table = unsafe table
        self.clock = clock
        let field = unsafe MemoryLayout<connector_gates>.offset(of: \.bound) ?? .max
        hasBound = unsafe Int(table.pointee.struct_size) > field
    }

    func call(
        _ use: String,
        _ operation: String,
        _ arguments: JSONValue,
        timeout: Duration?
    ) async throws(PluginError) -> JSONValue {
        let wait = Waiting<JSONValue>()
        let deadline = Deadline.after(timeout, on: clock)
        let outcome = await wait.outcome { wait in
            start(wait, use, operation, arguments, deadline: deadline)
        } cancel: { id in
            let isOpen = connection.whileOpen { unsafe table.pointee.cancel(table.pointee.context, id) } != nil
            if !isOpen { wait.finish(.failure(PluginError(.cancelled, "the gate is closed"))) }
        }
        return try outcome.get()
    }

    func isBound(_ use: String) -> Bool {
        guard hasBound else { return true }
        let status = unsafe BorrowedText(use).withPointer { use, length in
            connection.whileOpen { unsafe table.pointee.bound(table.pointee.context, use, length) }
        }
        return status == Line.ok
    }

    /// Starts a call that finishes the wait; if the host refuses it, finishes the wait and returns nil.
    private func start(
        _ wait: Waiting<JSONValue>,
        _ use: String,
        _ operation: String,
        _ arguments: JSONValue,
        deadline: UInt64
    ) -> UInt64? {
        let user = unsafe wait.retainedForCallback()
        var id: UInt64 = 0
        var error = Line.emptyError
        let status = unsafe BorrowedText(use).withPointer { use, useLength in
            unsafe BorrowedText(operation).withPointer { operation, operationLength in
                unsafe BorrowedText(arguments.utf8()).withPointer { arguments, argumentsLength in
                    var call = unsafe connector_gates_call(
                        struct_size: UInt32(MemoryLayout<connector_gates_call>.size),
                        flags: 0,
                        use: use,
                        use_length: useLength,
                        operation: operation,
                        operation_length: operationLength,
                        arguments: arguments,
                        arguments_length: argumentsLength,
                        deadline_ns: deadline,
                        // A task that its call has left behind still has the call's context, and must not end with it.
                        during: Deadline.isOver ? .max : 0
                    )
                    return connection.whileOpen {
                        unsafe table.pointee.call(
                            table.pointee.context,
                            &call,
                            { user, status, json, length, error in
                                let outcome = unsafe HostGates.outcome(status, json, length, error)
                                unsafe Waiting<JSONValue>.consumed(user)?.finish(outcome)
                            },
                            user,
                            &id,
                            &error
                        )
                    }
                }
            }
        }
        guard status == Line.ok else {
            wait.releaseCallback()
            let failure = status.map { status in unsafe Line.failure(status, &error) }
            wait.finish(.failure(failure ?? PluginError(.notOpen, "the gate is closing")))
            return nil
        }
        return id
    }

    private static func outcome(
        _ status: Int32,
        _ json: UnsafePointer<CChar>?,
        _ length: UInt64,
        _ error: UnsafePointer<connector_error>?
    ) -> Result<JSONValue, PluginError> {
        guard status == Line.ok else { return unsafe .failure(Line.failure(status, error)) }
        guard let json = unsafe json, length > 0 else { return .success(.null) }
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: json, count: Int(clamping: length)))
        do throws(ConnectorError) {
            return .success(try JSONValue(document: bytes, file: "result"))
        } catch {
            return .failure(PluginError(.protocolViolation, "the used gate's result is not JSON: \(error)"))
        }
    }
}
