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

    private typealias Failure = UnsafeMutablePointer<connector_error>
    private typealias Request = UnsafePointer<connector_http_request>

    private static let request:
        @convention(c) (
            UnsafeMutableRawPointer?, Request?, connector_http_done?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UInt64>?, Failure?
        ) -> Int32 = { context, request, done, user, id, error in
            guard let services = unsafe at(context), let done = unsafe done, let id = unsafe id else {
                return unsafe fail(Int32(CONNECTOR_MISUSE), "null where http/1 allows none", error)
            }
            let callback = unsafe PluginRequest(done: done, part: nil, room: nil, user: user, trace: .current)
            return unsafe services.start(request, callback, silence: nil, id, error)
        }

    private static let stream:
        @convention(c) (
            UnsafeMutableRawPointer?, Request?, UnsafePointer<connector_http_receiver>?, UnsafeMutablePointer<UInt64>?,
            Failure?
        ) -> Int32 = { context, request, receiver, id, error in
            guard let services = unsafe at(context), let id = unsafe id else {
                return unsafe fail(Int32(CONNECTOR_MISUSE), "null where http/1 allows none", error)
            }
            guard let receiver = unsafe receiver else {
                return unsafe fail(Int32(CONNECTOR_MISUSE), "the receiver is null", error)
            }
            // The field `room` came later: an older plugin's receiver ends before it.
            let size = unsafe Int(receiver.pointee.struct_size)
            let old = unsafe MemoryLayout<connector_http_receiver>.offset(of: \.room) ?? 0
            // Read as addresses: null in a required field must be an error.
            let address = unsafe UnsafeRawPointer(receiver)
            let functions = unsafe (
                address.load(fromByteOffset: 8, as: UnsafeRawPointer?.self),
                address.load(fromByteOffset: 16, as: UnsafeRawPointer?.self)
            )
            guard size >= old else {
                let text = "the receiver's struct_size is too small for version 1"
                return unsafe fail(Int32(CONNECTOR_MISUSE), text, error)
            }
            guard unsafe functions.0 != nil, unsafe functions.1 != nil else {
                return unsafe fail(Int32(CONNECTOR_MISUSE), "the receiver has a null function", error)
            }
            let room: connector_http_room? =
                unsafe size >= MemoryLayout<connector_http_receiver>.size ? receiver.pointee.room : nil
            let callback = unsafe PluginRequest(
                done: receiver.pointee.done,
                part: receiver.pointee.part,
                room: room,
                user: receiver.pointee.user,
                trace: .current
            )
            return unsafe services.start(request, callback, silence: receiver.pointee.silence_ns, id, error)
        }

    private func start(
        _ request: Request?,
        _ callback: PluginRequest,
        silence: UInt64?,
        _ id: UnsafeMutablePointer<UInt64>,
        _ error: Failure?
    ) -> Int32 {
        guard let request = unsafe request else {
            return unsafe Self.fail(Int32(CONNECTOR_MISUSE), "the request is null", error)
        }
        // The field `during` came later: an older plugin's request ends before it, and must not be read as a whole.
        let size = unsafe Int(request.pointee.struct_size)
        guard let old = unsafe MemoryLayout<connector_http_request>.offset(of: \.during), size >= old else {
            let text = "the request's struct_size is too small for version 1"
            return unsafe Self.fail(Int32(CONNECTOR_MISUSE), text, error)
        }
        let during = unsafe size >= MemoryLayout<connector_http_request>.size ? request.pointee.during : 0
        // The host checks the contents. What it cannot see is checked here, with its words: pointers, and what no message carries.
        guard let method = unsafe Self.text(request.pointee.method, request.pointee.method_length) else {
            let text = "the method is null, not UTF-8 or longer than 32 bytes"
            return unsafe Self.fail(Int32(CONNECTOR_INVALID), text, error)
        }
        guard unsafe request.pointee.url_length <= Self.nameLimit else {
            return unsafe Self.fail(Int32(CONNECTOR_TOO_LARGE), "the URL has more than 8192 bytes", error)
        }
        guard let url = unsafe Self.text(request.pointee.url, request.pointee.url_length) else {
            return unsafe Self.fail(Int32(CONNECTOR_INVALID), "the URL is null or not UTF-8", error)
        }
        let (flags, bodyLength) = unsafe (request.pointee.flags, request.pointee.body_length)
        let isInParts = unsafe flags & CONNECTOR_HTTP_BODY_IN_PARTS != 0 && request.pointee.body == nil
        guard isInParts || bodyLength <= Self.limit else {
            return unsafe Self.fail(
                Int32(CONNECTOR_TOO_LARGE),
                "the request's body has more than \(Self.limit) bytes",
                error
            )
        }
        let body = unsafe isInParts ? nil : Self.bytes(request.pointee.body, bodyLength)
        guard isInParts || body != nil else {
            return unsafe Self.fail(Int32(CONNECTOR_MISUSE), "the request's body is null with a length", error)
        }
        let (headers, headerCount) = unsafe (request.pointee.headers, request.pointee.header_count)
        guard unsafe headerCount == 0 || headers != nil else {
            let text = "the request's headers are null with a count"
            return unsafe Self.fail(Int32(CONNECTOR_MISUSE), text, error)
        }
        guard headerCount <= 256 else {
            return unsafe Self.fail(Int32(CONNECTOR_TOO_LARGE), "the request has more than 256 headers", error)
        }
        guard let fields = unsafe HeaderFields(headers, headerCount) else {
            let text = "a header is null or not UTF-8, or they have more than \(60 << 10) bytes"
            return unsafe Self.fail(Int32(CONNECTOR_INVALID), text, error)
        }
        let token = token()
        unsafe id.pointee = token
        let isOpen = state.withLock { state in
            guard !state.isStopped else { return false }
            state.requests[token] = callback
            return true
        }
        guard isOpen else { return unsafe Self.fail(Int32(CONNECTOR_NOT_OPEN), "the gate is being closed", error) }
        var message = MessageWriter()
        message.put(token)
        message.put(hostOperation(callback.trace.operation))
        message.put(hostOperation(during))
        message.put(silence != nil)
        message.put(silence ?? 0)
        message.put(callback.hasRoom)
        message.put(flags)
        message.put(method)
        message.put(url)
        fields.put(to: &message)
        message.put(body.flatMap { $0.isEmpty ? nil : $0 }) { $0.put($1) }
        message.put(bodyLength)
        unsafe message.put(remaining(until: request.pointee.deadline_ns))
        let answer = ask(.request, token, message)
        if answer.status != Int32(CONNECTOR_OK) { _ = state.withLock { $0.requests.removeValue(forKey: token) } }
        return unsafe Self.pass(answer, to: error)
    }

    /// The longest method, URL or name that goes to the host, in bytes; the host's own limits are far lower.
    private static let nameLimit: UInt64 = 1 << 20

    /// Copies a text of the plugin; nil for null, and for more than the host would look at.
    static func text(_ start: UnsafePointer<CChar>?, _ count: UInt64) -> [UInt8]? {
        unsafe start == nil || count > nameLimit ? nil : bytes(start, count)
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
            guard length <= UInt64(CONNECTOR_HTTP_PART_LIMIT) else {
                return unsafe fail(
                    Int32(CONNECTOR_TOO_LARGE),
                    "the part has more than \(CONNECTOR_HTTP_PART_LIMIT) bytes",
                    error
                )
            }
            guard let services = unsafe at(context) else {
                return unsafe fail(Int32(CONNECTOR_MISUSE), "null where http/1 allows none", error)
            }
            guard let bytes = unsafe bytes(part, length) else {
                return unsafe fail(Int32(CONNECTOR_MISUSE), "the part is null with a length", error)
            }
            let token = services.token()
            var message = MessageWriter()
            message.put(token)
            message.put(id)
            message.put(bytes)
            message.put(isLast != 0)
            return unsafe pass(services.ask(.requestWrite, token, message), to: error)
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
