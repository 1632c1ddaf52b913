// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import Synchronization

/// `gates/1`: the host makes the calls, and their ends come back as messages.
extension RunnerServices {
    func startCall(_ id: UInt64, _ call: GateCallTemplate, _ callback: GatesCallback) throws(ServiceFailure) {
        let given = call.during == 0 ? nil : state.withLock { $0.traces[call.during] }
        let trace = given ?? TraceContext.current
        let isOpen = state.withLock { state in
            guard !state.isStopped else { return false }
            state.calls[id] = (callback: callback, trace: trace)
            return true
        }
        guard isOpen else { throw .notOpen }
        var message = MessageWriter()
        message.put(id)
        // 0 stands for the running call, and a number that is not a call for none.
        message.put(call.during == 0 ? 0 : hostOperation(call.during, orElse: .max))
        message.put(hostOperation(trace.operation))
        message.put(call.use)
        message.put(call.operation)
        message.put(call.arguments.isEmpty ? nil : call.arguments) { $0.put($1) }
        message.put(call.deadline)
        do throws(ServiceFailure) {
            try requests.exchange(.gateCall, id, message)
        } catch {
            _ = state.withLock { $0.calls.removeValue(forKey: id) }
            throw error
        }
    }

    func cancelCall(_ id: UInt64) { steer(.gateCancel, id) }

    func checkUse(_ use: String) throws(ServiceFailure) {
        try requests.exchange(.gateBound) { $0.put(use) }
    }

    /// A call of another gate has ended.
    func gateReply(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let status = try message.integer(Int32.self)
        let error = try ServiceError.read(&message)
        let json = try message.data()
        guard let call = state.withLock({ $0.calls.removeValue(forKey: token) }) else { return }
        let result: Result<[UInt8], ServiceFailure> =
            status == Int32(CONNECTOR_OK) ? .success(json) : .failure(ServiceFailure(status: status, error))
        deliver { call.trace.run { call.callback.call(result) } }
    }
}
