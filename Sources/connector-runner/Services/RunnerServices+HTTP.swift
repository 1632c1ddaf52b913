// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import Synchronization

/// `http/1`: the host sends the requests, and the responses come back as messages.
extension RunnerServices {
    func httpTable(_ context: UnsafeMutableRawPointer) -> connector_http {
        unsafe connector_http(
            struct_size: UInt32(MemoryLayout<connector_http>.size),
            flags: 0,
            context: context,
            request: fitting(Self.request),
            cancel: fitting(Self.cancel),
            stream: fitting(Self.stream),
            resume: fitting(Self.resume),
            write: fitting(Self.write)
        )
    }

    /// The largest body that goes to the host, in bytes; the host's own limit is no higher.
    private static let bodyLimit = 64 << 20

    private typealias Failure = UnsafeMutablePointer<connector_error>
    private typealias Request = UnsafePointer<connector_http_request>

    private static let request:
        @convention(c) (
            UnsafeMutableRawPointer?, Request?, connector_http_done?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UInt64>?, Failure?
        ) -> Int32 = { context, request, done, user, id, error in
            guard let services = unsafe at(context), let done = unsafe done, let id = unsafe id else {
                return unsafe ServiceFailure.misuse("null where http/1 allows none").write(to: error)
            }
            do throws(ServiceFailure) {
                let template = try unsafe RequestTemplate(copying: request, limit: bodyLimit)
                let callback = unsafe PluginRequest(done: done, part: nil, room: nil, user: user, trace: .current)
                return unsafe services.start(template, callback, silence: nil, id, error)
            } catch let failure {
                return unsafe failure.write(to: error)
            }
        }

    private static let stream:
        @convention(c) (
            UnsafeMutableRawPointer?, Request?, UnsafePointer<connector_http_receiver>?, UnsafeMutablePointer<UInt64>?,
            Failure?
        ) -> Int32 = { context, request, receiver, id, error in
            guard let services = unsafe at(context), let id = unsafe id else {
                return unsafe ServiceFailure.misuse("null where http/1 allows none").write(to: error)
            }
            do throws(ServiceFailure) {
                let template = try unsafe RequestTemplate(copying: request, limit: bodyLimit)
                let receiver = try unsafe ResponseReceiver(copying: receiver)
                let callback = unsafe PluginRequest(
                    done: receiver.done,
                    part: receiver.part,
                    room: receiver.room,
                    user: receiver.user,
                    trace: .current
                )
                return unsafe services.start(template, callback, silence: receiver.silence, id, error)
            } catch let failure {
                return unsafe failure.write(to: error)
            }
        }

    private func start(
        _ request: RequestTemplate,
        _ callback: PluginRequest,
        silence: UInt64?,
        _ id: UnsafeMutablePointer<UInt64>,
        _ error: Failure?
    ) -> Int32 {
        let token = token()
        unsafe id.pointee = token
        let isOpen = state.withLock { state in
            guard !state.isStopped else { return false }
            state.requests[token] = callback
            return true
        }
        guard isOpen else { return unsafe ServiceFailure.notOpen.write(to: error) }
        var message = MessageWriter()
        message.put(token)
        message.put(hostOperation(callback.trace.operation))
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
        message.put(stated(request.deadline))
        let answer = exchange(.request, token, message)
        if answer.status != Int32(CONNECTOR_OK) { _ = state.withLock { $0.requests.removeValue(forKey: token) } }
        return unsafe Self.pass(answer, to: error)
    }

    private static let cancel: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        unsafe steer(.requestCancel, context, id)
    }

    private static let resume: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, id in
        unsafe steer(.requestResume, context, id)
    }

    private static func steer(_ kind: MessageKind, _ context: UnsafeMutableRawPointer?, _ id: UInt64) {
        guard let services = unsafe at(context) else { return }
        var message = MessageWriter()
        message.put(id)
        services.send(kind, message)
    }

    private static let write:
        @convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafePointer<UInt8>?, UInt64, UInt32, Failure?) -> Int32 = {
            context,
            id,
            part,
            length,
            isLast,
            error in
            guard let services = unsafe at(context) else {
                return unsafe ServiceFailure.misuse("null where http/1 allows none").write(to: error)
            }
            let bytes: [UInt8]
            do throws(ServiceFailure) {
                bytes = try unsafe RequestTemplate.bodyPart(part, length)
            } catch let failure {
                return unsafe failure.write(to: error)
            }
            let token = services.token()
            var message = MessageWriter()
            message.put(token)
            message.put(id)
            message.put(bytes)
            message.put(isLast != 0)
            return unsafe pass(services.exchange(.requestWrite, token, message), to: error)
        }

    /// A reply to a request has arrived.
    func reply(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let kind = try message.integer(UInt8.self)
        let status = try message.integer(Int32.self)
        let error = try ServiceError.read(&message)
        let response = try message.optional { message throws(ConnectorError) in
            (
                status: try message.integer(UInt32.self), fields: try HeaderFields(&message),
                body: try message.data()
            )
        }
        let request = state.withLock { kind == 0 ? $0.requests.removeValue(forKey: token) : $0.requests[token] }
        guard let request else { return }
        deliver {
            request.call {
                guard let response else {
                    if kind == 2 { return unsafe request.room?(request.user) ?? () }
                    guard var error else { return unsafe request.done(request.user, status, nil, nil) }
                    return unsafe request.done(request.user, status, nil, &error)
                }
                unsafe response.fields.withHeaders { headers, count in
                    unsafe response.body.withUnsafeBufferPointer { body in
                        var copy = unsafe connector_http_response(
                            struct_size: UInt32(MemoryLayout<connector_http_response>.size),
                            status: response.status,
                            headers: headers,
                            header_count: count,
                            body: body.isEmpty ? nil : body.baseAddress,
                            body_length: UInt64(body.count)
                        )
                        if kind == 0 {
                            unsafe request.done(request.user, status, &copy, nil)
                        } else {
                            unsafe request.part?(request.user, &copy)
                        }
                    }
                }
            }
        }
    }
}

extension PluginRequest {
    /// Whether the plugin wants to know when it can write.
    var hasRoom: Bool { unsafe room != nil }
}
