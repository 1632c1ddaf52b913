// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import Synchronization

/// `http/1`: the host sends the requests, and the responses come back as messages.
extension RunnerServices {
    /// The largest body that goes to the host; the host's own limit is no higher.
    var requestLimit: Int { 64 << 20 }

    /// Nil: the host compresses.
    func compressed(_ body: UnsafeBufferPointer<UInt8>) -> [UInt8]? { nil }

    func startRequest(
        _ id: UInt64,
        _ request: RequestTemplate,
        _ callback: RequestCallback,
        silence: UInt64?
    ) throws(ServiceFailure) {
        let trace = TraceContext.current
        let isOpen = state.withLock { state in
            guard !state.isStopped else { return false }
            state.requests[id] = (callback: callback, trace: trace)
            return true
        }
        guard isOpen else { throw .notOpen }
        var message = MessageWriter()
        message.put(id)
        message.put(hostOperation(trace.operation))
        message.put(hostOperation(request.during))
        message.put(silence != nil)
        message.put(silence ?? 0)
        message.put(callback.hasRoom)
        message.put(request.flags)
        message.put(request.method)
        message.put(request.url)
        HeaderFields(request.headers).put(to: &message)
        message.put(request.body.isEmpty ? nil : request.body) { $0.put($1) }
        let isInParts = request.flags & CONNECTOR_HTTP_BODY_IN_PARTS != 0
        message.put(isInParts ? request.length.map(UInt64.init) ?? .max : UInt64(request.body.count))
        message.put(request.deadline)
        do throws(ServiceFailure) {
            try requests.exchange(.request, id, message)
        } catch {
            _ = state.withLock { $0.requests.removeValue(forKey: id) }
            throw error
        }
    }

    func cancelRequest(_ id: UInt64) { steer(.requestCancel, id) }

    func resumeRequest(_ id: UInt64) { steer(.requestResume, id) }

    func writeRequest(_ id: UInt64, _ part: [UInt8], isLast: Bool) throws(ServiceFailure) {
        try requests.exchange(.requestWrite) { message in
            message.put(id)
            message.put(part)
            message.put(isLast)
        }
    }

    /// A reply to a request has arrived.
    func reply(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let kind = try message.integer(UInt8.self)
        let status = try message.integer(Int32.self)
        let error = try ServiceError.read(&message)
        let response = try message.optional { message throws(ConnectorError) in
            HTTPResponse(
                status: Int(try message.integer(UInt32.self)),
                headers: try HeaderFields(&message).httpFields,
                body: try message.data()
            )
        }
        let request = state.withLock { kind == 0 ? $0.requests.removeValue(forKey: token) : $0.requests[token] }
        guard let request else { return }
        deliver {
            request.trace.run {
                if kind == 2 { return request.callback.callRoom() }
                guard let response else {
                    return request.callback.call(.failure(ServiceFailure(status: status, error)))
                }
                if kind == 1 { return request.callback.call(part: response) }
                request.callback.call(.success(response))
            }
        }
    }
}
