// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import Synchronization

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The end of a request, as `done` received it.
struct RequestEnd: Error, Sendable {
    /// What `done` was called with, or what `request` returned.
    var status: Int32
    /// Whether `done` ran.
    var isDone = false
    /// The response's status; 0 without a response.
    var code: UInt32 = 0
    /// The response's headers, names in lower case.
    var fields: [String: String] = [:]
    /// The response's body.
    var body: [UInt8] = []
    /// The error's message.
    var message = ""
    /// The error's domain.
    var domain = ""
    /// The error's number.
    var detail: Int32 = 0
    /// Whether the error says that it may pass.
    var isRetryable = false

    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }

    /// Reads what C lends.
    init(_ status: Int32, _ response: UnsafePointer<connector_http_response>?, _ error: UnsafePointer<connector_error>?)
    {
        self.status = status
        if let response = unsafe response?.pointee {
            unsafe code = response.status
            unsafe body = PluginMemory.bytes(response.body, response.body_length, limit: .max) ?? []
            let headers = unsafe UnsafeBufferPointer(start: response.headers, count: Int(response.header_count))
            for index in headers.indices {
                let header = unsafe headers[index]
                let name = unsafe PluginMemory.text(header.name, header.name_length, limit: 1024) ?? ""
                fields[name.lowercased()] = unsafe PluginMemory.text(header.value, header.value_length, limit: 1 << 20)
            }
        }
        if let error = unsafe error?.pointee {
            message = Self.text(error.message)
            domain = Self.text(error.domain)
            detail = error.detail
            isRetryable = error.retryable == 1
        }
    }

    private static func text<Tuple>(_ tuple: Tuple) -> String {
        unsafe withUnsafeBytes(of: tuple) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension HTTPOptions {
    /// The usual ones, but for the limits of time: tests that run beside many others may take long, and must not fail for that.
    static var patient: HTTPOptions {
        var options = HTTPOptions()
        options.requestTimeout = .seconds(3600)
        options.connectTimeout = .seconds(3600)
        return options
    }

    /// The patient ones, with connections that stay open.
    static func lasting(_ change: (inout HTTPOptions) -> Void = { _ in }) -> HTTPOptions {
        var options = patient
        options.idleTimeout = .seconds(3600)
        change(&options)
        return options
    }
}

/// Receives the end of one request.
private final class RequestWaiter: Sendable {
    let continuation: CheckedContinuation<RequestEnd, Never>
    let onDone: @Sendable () -> Void

    init(_ continuation: CheckedContinuation<RequestEnd, Never>, _ onDone: @escaping @Sendable () -> Void) {
        self.continuation = continuation
        self.onDone = onDone
    }

    /// A second call would resume a continuation twice, which traps.
    static let done: connector_http_done = { user, status, response, error in
        guard let user = unsafe user else { return }
        let waiter = unsafe Unmanaged<RequestWaiter>.fromOpaque(user).takeUnretainedValue()
        waiter.onDone()
        var end = unsafe RequestEnd(status, response, error)
        end.isDone = true
        waiter.continuation.resume(returning: end)
    }
}

extension PluginSide {
    /// Sends a request and waits for its end.
    ///
    /// - Parameters:
    ///   - during: The plugin's own call that the request serves; 0 for none.
    ///   - onName: Runs once `request` returned, whatever it returned, with the request's id.
    ///   - onStart: Runs once `request` returned CONNECTOR_OK, with the request's id.
    ///   - onDone: Runs within `done`.
    func request(
        _ method: String = "GET",
        _ url: String,
        fields: [(String, String)] = [],
        body: [UInt8] = [],
        flags: UInt32 = 0,
        deadline: UInt64 = .max,
        during: UInt64 = 0,
        onName: (UInt64) -> Void = { _ in },
        onStart: (UInt64) -> Void = { _ in },
        onDone: @escaping @Sendable () -> Void = {}
    ) async -> RequestEnd {
        let waiter = Mutex<RequestWaiter?>(nil)
        let end = await withCheckedContinuation { continuation in
            let receiver = RequestWaiter(continuation, onDone)
            waiter.withLock { $0 = receiver }
            var error = connector_error()
            error.struct_size = UInt32(MemoryLayout<connector_error>.size)
            var id: UInt64 = 0
            let status = unsafe lend(method, url, fields, body, flags, deadline, during) { request in
                guard let http = unsafe http else { return Int32(CONNECTOR_FAILED) }
                return unsafe http.pointee.request(
                    http.pointee.context,
                    request,
                    RequestWaiter.done,
                    Unmanaged.passUnretained(receiver).toOpaque(),
                    &id,
                    &error
                )
            }
            onName(id)
            if status == CONNECTOR_OK {
                onStart(id)
            } else {
                unsafe continuation.resume(returning: RequestEnd(status, nil, &error))
            }
        }
        withExtendedLifetime(waiter) {}
        return end
    }

    /// Sends a request whose response comes in parts.
    ///
    /// - Parameters:
    ///   - length: The length of a body that comes in parts, `.max` if it is not known; nil without one.
    ///   - silence: In nanoseconds; 0 for any.
    ///   - during: The plugin's own call that the request serves; 0 for none.
    ///   - isOld: Whether the plugin is older than the last fields of the request and the receiver; 7 stands where `during` would be.
    func stream(
        _ method: String = "GET",
        _ url: String,
        length: UInt64? = nil,
        deadline: UInt64 = .max,
        silence: UInt64 = 0,
        during: UInt64 = 0,
        isOld: Bool = false
    ) throws -> PartRecorder {
        let recorder = PartRecorder(self)
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        var receiver = unsafe recorder.receiver(silence: silence)
        if isOld { unsafe receiver.struct_size -= UInt32(MemoryLayout<connector_http_room?>.size) }
        let status = unsafe lend(method, url, [], [], 0, deadline, during) { request in
            guard let http = unsafe http else { return Int32(CONNECTOR_FAILED) }
            var request = unsafe request.pointee
            if isOld {
                unsafe request.struct_size -= UInt32(MemoryLayout<UInt64>.size)
                unsafe request.during = 7
            }
            if let length {
                unsafe request.flags = CONNECTOR_HTTP_BODY_IN_PARTS
                unsafe request.body_length = length
                unsafe request.body = nil
            }
            return unsafe http.pointee.stream(http.pointee.context, &request, &receiver, &recorder.id, &error)
        }
        guard status == CONNECTOR_OK else { throw unsafe RequestEnd(status, nil, &error) }
        return recorder
    }

    /// Lends a request for the duration of a call.
    private func lend(
        _ method: String,
        _ url: String,
        _ fields: [(String, String)],
        _ body: [UInt8],
        _ flags: UInt32,
        _ deadline: UInt64,
        _ during: UInt64 = 0,
        _ call: (UnsafePointer<connector_http_request>) -> Int32
    ) -> Int32 {
        let texts = [method, url] + fields.flatMap { [$0.0, $0.1] }
        let copies = unsafe texts.map { text in
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.utf8.count + 1)
            _ = unsafe copy.initialize(from: text.utf8.map { CChar(bitPattern: $0) } + [0])
            return unsafe copy
        }
        // What is lent is taken away when the call returns: the host must have copied it.
        defer {
            for index in 0..<(unsafe copies.count) {
                let copy = unsafe copies[index]
                unsafe copy.update(repeating: 0x2D)
                unsafe copy.deallocate()
            }
        }
        var headers: [connector_http_header] = unsafe []
        for index in stride(from: 2, to: unsafe copies.count, by: 2) {
            guard let name = unsafe copies[index].baseAddress, let value = unsafe copies[index + 1].baseAddress else {
                continue
            }
            unsafe headers.append(
                connector_http_header(
                    name: name,
                    name_length: UInt64(copies[index].count - 1),
                    value: value,
                    value_length: UInt64(copies[index + 1].count - 1)
                )
            )
        }
        guard let method = unsafe copies[0].baseAddress, let url = unsafe copies[1].baseAddress else { return -1 }
        return unsafe headers.withUnsafeBufferPointer { headers in
            unsafe body.withUnsafeBufferPointer { body in
                var request = unsafe connector_http_request(
                    struct_size: UInt32(MemoryLayout<connector_http_request>.size),
                    flags: flags,
                    method: method,
                    method_length: UInt64(copies[0].count - 1),
                    url: url,
                    url_length: UInt64(copies[1].count - 1),
                    headers: headers.baseAddress,
                    header_count: UInt64(headers.count),
                    body: body.baseAddress,
                    body_length: UInt64(body.count),
                    deadline_ns: deadline,
                    during: during
                )
                return unsafe call(&request)
            }
        }
    }
}
