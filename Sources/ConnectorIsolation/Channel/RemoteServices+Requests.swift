// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation

/// Requests over HTTP, and calls of other gates.
extension RemoteServices {
    private func http() -> UnsafePointer<connector_http>? { unsafe table("http/1", as: connector_http.self) }
    private func gates() -> UnsafePointer<connector_gates>? { unsafe table("gates/1", as: connector_gates.self) }

    /// Runs a service's function in the trace of the operation that made the request, if there is one.
    func inTrace(_ trace: TraceContext?, _ body: () -> Void) {
        if let trace { trace.run(body) } else { body() }
    }

    func request(_ message: inout MessageReader, _ trace: (UInt64) -> TraceContext?) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let running = try message.integer(UInt64.self)
        let during = try message.integer(UInt64.self)
        let isStream = try message.bool()
        let silence = try message.integer(UInt64.self)
        let wantsRoom = try message.bool()
        let flags = try message.integer(UInt32.self)
        let method = try message.data()
        let url = try message.data()
        let fields = try HeaderFields(&message)
        let body = try message.optional { message throws(ConnectorError) in try message.data() }
        let bodyLength = try message.integer(UInt64.self)
        let deadline = try message.integer(UInt64.self)
        guard bodyLength == UInt64(body?.count ?? 0) || body == nil else { throw MessageReader.malformed }
        guard let table = unsafe http() else { return answer(token, Int32(CONNECTOR_DENIED)) }
        expect(token)
        let user = unsafe Unmanaged.passRetained(RemoteCallback(self, token)).toOpaque()
        inTrace(trace(running)) {
            unsafe ServiceError.with { error in
                var number: UInt64 = 0
                let status = unsafe Self.withText(method) { method, methodLength in
                    unsafe Self.withText(url) { url, urlLength in
                        unsafe fields.withHeaders { headers, count in
                            unsafe Self.withBytes(body) { body, _ in
                                guard let method = unsafe method, let url = unsafe url else {
                                    return Int32(CONNECTOR_INVALID)
                                }
                                var request = unsafe connector_http_request(
                                    struct_size: UInt32(MemoryLayout<connector_http_request>.size),
                                    flags: flags,
                                    method: method,
                                    method_length: methodLength,
                                    url: url,
                                    url_length: urlLength,
                                    headers: headers,
                                    header_count: count,
                                    body: body,
                                    body_length: bodyLength,
                                    deadline_ns: deadline,
                                    during: during
                                )
                                guard isStream else {
                                    return unsafe table.pointee.request(
                                        table.pointee.context,
                                        &request,
                                        RemoteCallback.done,
                                        user,
                                        &number,
                                        error
                                    )
                                }
                                var receiver = unsafe connector_http_receiver(
                                    struct_size: UInt32(MemoryLayout<connector_http_receiver>.size),
                                    flags: 0,
                                    part: RemoteCallback.part,
                                    done: RemoteCallback.done,
                                    user: user,
                                    silence_ns: silence,
                                    room: wantsRoom ? RemoteCallback.room : nil
                                )
                                return unsafe table.pointee.stream(
                                    table.pointee.context,
                                    &request,
                                    &receiver,
                                    &number,
                                    error
                                )
                            }
                        }
                    }
                }
                unsafe started(token, status, number, user, error)
            }
        }
    }

    func steer(_ kind: MessageKind, _ message: inout MessageReader) throws(ConnectorError) {
        guard let number = number(try message.integer()), let table = unsafe http() else { return }
        if kind == .requestCancel {
            unsafe table.pointee.cancel(table.pointee.context, number)
        } else {
            unsafe table.pointee.resume(table.pointee.context, number)
        }
    }

    func write(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let request = try message.integer(UInt64.self)
        let part = try message.data()
        let isLast = try message.bool()
        guard let table = unsafe http() else { return answer(token, Int32(CONNECTOR_DENIED)) }
        // No request has the number 0: the host's own words for one that has ended.
        let number = number(request) ?? 0
        unsafe ServiceError.with { error in
            let status = unsafe Self.withBytes(part) { bytes, count in
                unsafe table.pointee.write(table.pointee.context, number, bytes, count, isLast ? 1 : 0, error)
            }
            unsafe answer(token, status, error: error)
        }
    }

    func callGate(_ message: inout MessageReader, _ trace: (UInt64) -> TraceContext?) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let during = try message.integer(UInt64.self)
        let running = try message.integer(UInt64.self)
        let use = try message.data()
        let operation = try message.data()
        let arguments = try message.optional { message throws(ConnectorError) in try message.data() }
        let deadline = try message.integer(UInt64.self)
        guard let table = unsafe gates() else { return answer(token, Int32(CONNECTOR_DENIED)) }
        expect(token)
        let user = unsafe Unmanaged.passRetained(RemoteCallback(self, token)).toOpaque()
        inTrace(trace(running)) {
            unsafe ServiceError.with { error in
                var number: UInt64 = 0
                let status = unsafe Self.withText(use) { use, useLength in
                    unsafe Self.withText(operation) { operation, operationLength in
                        unsafe Self.withText(arguments) { arguments, count in
                            guard let use = unsafe use, let operation = unsafe operation else {
                                return Int32(CONNECTOR_INVALID)
                            }
                            var call = unsafe connector_gates_call(
                                struct_size: UInt32(MemoryLayout<connector_gates_call>.size),
                                flags: 0,
                                use: use,
                                use_length: useLength,
                                operation: operation,
                                operation_length: operationLength,
                                arguments: arguments,
                                arguments_length: count,
                                deadline_ns: deadline,
                                during: during
                            )
                            return unsafe table.pointee.call(
                                table.pointee.context,
                                &call,
                                RemoteCallback.gateDone,
                                user,
                                &number,
                                error
                            )
                        }
                    }
                }
                unsafe started(token, status, number, user, error)
            }
        }
    }

    func cancelGate(_ message: inout MessageReader) throws(ConnectorError) {
        guard let number = number(try message.integer()), let table = unsafe gates() else { return }
        unsafe table.pointee.cancel(table.pointee.context, number)
    }

    func bound(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let use = try message.data()
        guard let table = unsafe gates() else { return answer(token, Int32(CONNECTOR_DENIED)) }
        let status = unsafe Self.withText(use) { use, length in
            guard let use = unsafe use else { return Int32(CONNECTOR_INVALID) }
            return unsafe table.pointee.bound(table.pointee.context, use, length)
        }
        answer(token, status)
    }
}
