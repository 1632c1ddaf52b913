// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import Synchronization

/// `gates/1`: the host makes the calls, and their ends come back as messages.
extension RunnerServices {
    func gatesTable(_ context: UnsafeMutableRawPointer) -> connector_gates {
        unsafe connector_gates(
            struct_size: UInt32(MemoryLayout<connector_gates>.size),
            flags: 0,
            context: context,
            call: fitting(Self.call),
            cancel: fitting(Self.cancelCall),
            bound: fitting(Self.bound)
        )
    }

    private static let call:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<connector_gates_call>?, connector_gates_done?,
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<connector_error>?
        ) -> Int32 = { context, call, done, user, id, error in
            guard let services = unsafe at(context), let done = unsafe done, let id = unsafe id else {
                return unsafe ServiceFailure.misuse("null where gates/1 allows none").write(to: error)
            }
            let template: GateCallTemplate
            do throws(ServiceFailure) {
                template = try unsafe GateCallTemplate(copying: call)
            } catch let failure {
                return unsafe failure.write(to: error)
            }
            let token = services.token()
            unsafe id.pointee = token
            let trace = TraceContext.current
            let isOpen = services.state.withLock { state in
                guard !state.isStopped else { return false }
                unsafe state.calls[token] = PluginGateCall(done: done, user: user, trace: trace)
                return true
            }
            guard isOpen else { return unsafe ServiceFailure.notOpen.write(to: error) }
            var message = MessageWriter()
            message.put(token)
            // 0 stands for the running call, and a number that is no call for none.
            let during = template.during
            message.put(during == 0 ? 0 : services.hostOperation(during, orElse: .max))
            message.put(services.hostOperation(trace.operation))
            message.put(template.use)
            message.put(template.operation)
            message.put(template.arguments.isEmpty ? nil : template.arguments) { $0.put($1) }
            message.put(services.stated(template.deadline))
            let answer = services.exchange(.gateCall, token, message)
            if answer.status != Int32(CONNECTOR_OK) {
                _ = services.state.withLock { $0.calls.removeValue(forKey: token) }
            }
            return unsafe pass(answer, to: error)
        }

    private static let cancelCall: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        guard let services = unsafe at(context) else { return }
        var message = MessageWriter()
        message.put(id)
        services.send(.gateCancel, message)
    }

    private static let bound: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64) -> Int32 = {
        context,
        use,
        length in
        guard let services = unsafe at(context), let text = unsafe PluginMemory.text(use, length, limit: 64)
        else { return Int32(CONNECTOR_INVALID) }
        let token = services.token()
        var message = MessageWriter()
        message.put(token)
        message.put(text)
        return services.exchange(.gateBound, token, message).status
    }

    /// A call of another gate has ended.
    func gateReply(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let status = try message.integer(Int32.self)
        let error = try ServiceError.read(&message)
        let json = try message.data()
        guard let call = state.withLock({ $0.calls.removeValue(forKey: token) }) else { return }
        deliver {
            call.call {
                if var error { return unsafe call.done(call.user, status, nil, 0, &error) }
                unsafe json.withUnsafeBytes { bytes in
                    let text = unsafe bytes.isEmpty ? nil : bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                    unsafe call.done(call.user, status, text, UInt64(json.count), nil)
                }
            }
        }
    }
}
