// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The host's `http/1`.
@safe
struct HostHTTP: HTTPService, @unchecked Sendable {
    // Sendable: the table is constant until `destroy` (host.h), its functions may be called from any thread (http.h), and
    // the connection refuses calls afterwards.
    private let connection: HostConnection
    private let table: UnsafePointer<connector_http>
    private let clock: any ClockService
    /// Whether the table has the functions for requests in parts. Read before `destroy` can free the table.
    private let hasParts: Bool

    init(_ connection: HostConnection, _ table: UnsafePointer<connector_http>, clock: any ClockService) {
        self.connection = connection
        unsafe self.table = unsafe table
        self.clock = clock
        let field = unsafe MemoryLayout<connector_http>.offset(of: \.write) ?? .max
        hasParts = unsafe Int(table.pointee.struct_size) > field
    }

    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        try request.url.check()
        let wait = Waiting<HTTPResponse>()
        let deadline = Deadline.after(request.timeout, on: clock)
        let outcome = await wait.outcome { wait in
            start(wait, request, deadline: deadline)
        } cancel: { id in
            let isOpen = connection.whileOpen { unsafe table.pointee.cancel(table.pointee.context, id) } != nil
            if !isOpen { wait.finish(.failure(PluginError(.cancelled, "the gate is closed"))) }
        }
        return try outcome.get()
    }

    func stream(
        _ request: HTTPRequest,
        body upload: HTTPUpload?,
        silence: Duration?
    ) async throws(PluginError) -> HTTPStream {
        guard hasParts else {
            throw PluginError(.unsupported, "this host is too old for requests in parts; update it")
        }
        try request.url.check()
        let receiver = PartReceiver()
        let id = try start(receiver, request, upload, silence: silence)
        let body = HostBody(receiver) { isResuming in
            let isOpen: Void? = connection.whileOpen {
                if isResuming {
                    unsafe table.pointee.resume(table.pointee.context, id)
                } else {
                    unsafe table.pointee.cancel(table.pointee.context, id)
                }
            }
            if isOpen == nil { receiver.finish(.failure(PluginError(.cancelled, "the gate is closed"))) }
        }
        let head = await withTaskCancellationHandler { () -> Result<HTTPResponse, PluginError> in
            do throws(PluginError) {
                if let upload { try await send(upload, receiver, id) }
            } catch {
                return .failure(error)
            }
            return await receiver.head.wait()
        } onCancel: {
            body.cancel()
        }
        return HTTPStream(try head.get()) { () throws(PluginError) in try await body.next() }
    }

    /// Sends a body part by part, until the body or the request ends. A server that has refused or redirected the
    /// request does not need the rest.
    private func send(_ upload: HTTPUpload, _ receiver: PartReceiver, _ id: UInt64) async throws(PluginError) {
        while receiver.wantsBody {
            guard let part = try await upload.next() else {
                _ = try write([], isLast: true, to: id, receiver)
                return
            }
            var rest = part[...]
            while !rest.isEmpty, receiver.wantsBody {
                let piece = rest.prefix(Int(CONNECTOR_HTTP_PART_LIMIT))
                rest = rest.dropFirst(piece.count)
                let room = receiver.expectRoom()
                guard try write(Array(piece), isLast: false, to: id, receiver) else { return }
                await room.wait()
            }
        }
    }

    /// Sends a part of a body.
    ///
    /// - Returns: False if the request takes no more of its body.
    private func write(
        _ piece: [UInt8],
        isLast: Bool,
        to id: UInt64,
        _ receiver: PartReceiver
    ) throws(PluginError) -> Bool {
        var error = Line.emptyError
        let status = connection.whileOpen {
            unsafe piece.withUnsafeBufferPointer { piece in
                unsafe table.pointee.write(
                    table.pointee.context,
                    id,
                    piece.baseAddress,
                    UInt64(piece.count),
                    isLast ? 1 : 0,
                    &error
                )
            }
        }
        if status == Line.ok { return true }
        // If the request has ended or was redirected, its own outcome says more than this status.
        guard receiver.wantsBody, status != Int32(CONNECTOR_UNKNOWN_OPERATION) else { return false }
        let failure = status.map { status in unsafe Line.failure(status, &error) }
        throw failure ?? PluginError(.notOpen, "the gate is closing")
    }

    /// Starts a request whose response the receiver gets in parts.
    private func start(
        _ receiver: PartReceiver,
        _ request: HTTPRequest,
        _ upload: HTTPUpload?,
        silence: Duration?
    ) throws(PluginError) -> UInt64 {
        let user = unsafe Unmanaged.passRetained(receiver)
        var target = unsafe connector_http_receiver(
            struct_size: UInt32(MemoryLayout<connector_http_receiver>.size),
            flags: 0,
            part: { user, part in
                guard let user = unsafe user else { return }
                unsafe Unmanaged<PartReceiver>.fromOpaque(user).takeUnretainedValue().receive(
                    HTTPResponse(part.pointee)
                )
            },
            done: { user, status, response, error in
                guard let user = unsafe user else { return }
                let outcome = unsafe HostHTTP.outcome(status, response, error)
                unsafe Unmanaged<PartReceiver>.fromOpaque(user).takeRetainedValue().finish(outcome)
            },
            user: user.toOpaque(),
            silence_ns: silence?.nanoseconds ?? 0,
            room: { user in
                guard let user = unsafe user else { return }
                unsafe Unmanaged<PartReceiver>.fromOpaque(user).takeUnretainedValue().makeRoom()
            }
        )
        let deadline = end(of: request) ?? .max
        var id: UInt64 = 0
        var error = Line.emptyError
        let status = connection.whileOpen {
            unsafe HTTPRequestLayout(request, upload: upload).withBorrowed(deadline: deadline) { request in
                unsafe table.pointee.stream(table.pointee.context, request, &target, &id, &error)
            }
        }
        guard status == Line.ok else {
            unsafe user.release()
            let failure = status.map { status in unsafe Line.failure(status, &error) }
            throw failure ?? PluginError(.notOpen, "the gate is closing")
        }
        return id
    }

    /// The request's own deadline on the monotonic clock; nil if it has none.
    private func end(of request: HTTPRequest) -> UInt64? {
        guard let timeout = request.timeout else { return nil }
        let (end, overflow) = clock.monotonic.addingReportingOverflow(timeout.nanoseconds)
        return overflow ? nil : end
    }

    /// Starts a request that finishes the wait; if the host refuses it, finishes the wait and returns nil.
    private func start(_ wait: Waiting<HTTPResponse>, _ request: HTTPRequest, deadline: UInt64) -> UInt64? {
        let user = unsafe wait.retainedForCallback()
        var id: UInt64 = 0
        var error = Line.emptyError
        let status = connection.whileOpen {
            unsafe HTTPRequestLayout(request).withBorrowed(deadline: deadline) { request in
                unsafe table.pointee.request(
                    table.pointee.context,
                    request,
                    { user, status, response, error in
                        let outcome = unsafe HostHTTP.outcome(status, response, error)
                        unsafe Waiting<HTTPResponse>.consumed(user)?.finish(outcome)
                    },
                    user,
                    &id,
                    &error
                )
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
        _ response: UnsafePointer<connector_http_response>?,
        _ error: UnsafePointer<connector_error>?
    ) -> Result<HTTPResponse, PluginError> {
        guard status == Line.ok, let response = unsafe response?.pointee else {
            return unsafe .failure(Line.failure(status == Line.ok ? PluginStatus.failed.rawValue : status, error))
        }
        return unsafe .success(HTTPResponse(response))
    }
}

extension HTTPResponse {
    /// Copies what the host lends.
    fileprivate init(_ response: connector_http_response) {
        let headers = unsafe UnsafeBufferPointer(start: response.headers, count: Int(clamping: response.header_count))
        let body = unsafe UnsafeBufferPointer(start: response.body, count: Int(clamping: response.body_length))
        let fields = unsafe headers.map { header in
            unsafe HTTPField(
                name: Self.text(header.name, header.name_length),
                value: Self.text(header.value, header.value_length)
            )
        }
        self.init(status: unsafe Int(response.status), headers: HTTPFields(fields), body: unsafe [UInt8](body))
    }

    private static func text(_ data: UnsafePointer<CChar>, _ length: UInt64) -> String {
        unsafe String(
            decoding: UnsafeRawBufferPointer(start: data, count: Int(clamping: length)),
            as: UTF8.self
        )
    }
}
