// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// The host's side of the line, for one instance: C tables that record what a plugin does with them.
@safe
final class LineHost: @unchecked Sendable {
    // Sendable: the tables are made in `init` and never change, everything else is behind the mutex.

    /// How a call ended.
    struct Completion: Sendable, Equatable {
        var operation: UInt64
        var status: Int32
        var result: String?
        var message = ""
        var isRetryable = false
        var retryAfter: UInt64 = 0
    }

    /// A request that waits for an answer.
    @safe
    private struct Pending: @unchecked Sendable {
        // Sendable: the pointer is only handed back to the plugin, once.
        var done: connector_http_done
        var user: UnsafeMutableRawPointer?
    }

    private struct State {
        var completions: [Completion] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var pending: [UInt64: Pending] = [:]
        var cancelled: [UInt64] = []
        var lastRequest: (url: String, body: String, flags: UInt32, deadline: UInt64)?
        var nextRequest: UInt64 = 1
        var refused: Set<UInt64> = []
    }

    private let state = Mutex(State())
    private let host: UnsafeMutablePointer<connector_host>
    private let http: UnsafeMutablePointer<connector_http>

    private let storage: LineStorage?
    private let gates: LineGates?

    init(storage: LineStorage? = nil, gates: LineGates? = nil) {
        (self.storage, self.gates) = (storage, gates)
        unsafe host = .allocate(capacity: 1)
        unsafe http = .allocate(capacity: 1)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe http.initialize(
            to: connector_http(
                // A host of the first release, without the functions for responses in parts.
                struct_size: 32,
                flags: 0,
                context: context,
                request: { context, request, done, user, id, _ in
                    unsafe LineHost.of(context).request(request.pointee, Pending(done: done, user: user), id)
                },
                cancel: { context, id in unsafe LineHost.of(context).cancel(id) },
                stream: { _, _, _, _, _ in PluginStatus.unsupported.rawValue },
                resume: { _, _ in },
                write: { _, _, _, _, _, _ in PluginStatus.unsupported.rawValue }
            )
        )
        unsafe host.initialize(
            to: connector_host(
                struct_size: UInt32(MemoryLayout<connector_host>.size),
                abi_version: CONNECTOR_ABI_VERSION,
                context: context,
                service: { context, id, length in
                    let name = unsafe String(
                        decoding: UnsafeRawBufferPointer(start: id, count: Int(length)),
                        as: UTF8.self
                    )
                    let host = unsafe LineHost.of(context)
                    return switch name {
                    case "http/1": unsafe UnsafeRawPointer(host.http)
                    case "storage/1": unsafe host.storage?.pointer
                    case "gates/1": unsafe host.gates?.pointer
                    default: nil
                    }
                },
                complete: { context, operation, status, result, length, error in
                    let text = unsafe result.map {
                        unsafe String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self)
                    }
                    var completion = Completion(operation: operation, status: status, result: text)
                    if let error = unsafe error?.pointee {
                        completion.message = LineHost.message(of: error)
                        completion.isRetryable = error.retryable == 1
                        completion.retryAfter = error.retry_after_ns
                    }
                    return unsafe LineHost.of(context).record(completion)
                },
                progress: { _, _, _, _ in 0 }
            )
        )
    }

    deinit {
        unsafe host.deallocate()
        unsafe http.deallocate()
    }

    /// What `create` receives.
    var pointer: UnsafeRawPointer { unsafe UnsafeRawPointer(host) }

    /// Everything that has completed.
    var completions: [Completion] { state.withLock { $0.completions } }

    /// The requests that the plugin gave up.
    var cancelled: [UInt64] { state.withLock { $0.cancelled } }

    /// The last request.
    var lastRequest: (url: String, body: String, flags: UInt32, deadline: UInt64)? { state.withLock { $0.lastRequest } }

    /// Waits until something has completed or been requested since the last call.
    func news() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.completions.isEmpty else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Answers a request that waits.
    func answer(_ id: UInt64, status: UInt32, body: String) {
        guard let pending = state.withLock({ $0.pending.removeValue(forKey: id) }) else { return }
        let bytes = Array(body.utf8)
        unsafe bytes.withUnsafeBufferPointer { buffer in
            var response = unsafe connector_http_response(
                struct_size: UInt32(MemoryLayout<connector_http_response>.size),
                status: status,
                headers: nil,
                header_count: 0,
                body: buffer.baseAddress,
                body_length: UInt64(buffer.count)
            )
            unsafe pending.done(pending.user, 0, &response, nil)
        }
    }

    /// The message of an error object.
    static func message(of error: connector_error) -> String {
        unsafe withUnsafeBytes(of: error.message) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private func request(
        _ request: connector_http_request,
        _ pending: Pending,
        _ id: UnsafeMutablePointer<UInt64>
    ) -> Int32 {
        let url = unsafe String(
            decoding: UnsafeRawBufferPointer(start: request.url, count: Int(request.url_length)),
            as: UTF8.self
        )
        let body = unsafe String(
            decoding: UnsafeBufferPointer(start: request.body, count: Int(request.body_length)),
            as: UTF8.self
        )
        let (flags, deadline) = unsafe (request.flags, request.deadline_ns)
        let number = state.withLock { state in
            state.lastRequest = (url, body, flags, deadline)
            state.pending[state.nextRequest] = pending
            state.nextRequest += 1
            return state.nextRequest - 1
        }
        unsafe id.pointee = number
        return 0
    }

    private func cancel(_ id: UInt64) {
        let pending = state.withLock { state in
            state.cancelled.append(id)
            return state.pending.removeValue(forKey: id)
        }
        guard let pending else { return }
        unsafe pending.done(pending.user, CONNECTOR_CANCELLED_STATUS, nil, nil)
    }

    /// Gives a call up without telling the plugin, as the host does at its deadline just before the plugin completes it.
    func giveUp(_ operation: UInt64) {
        state.withLock { _ = $0.refused.insert(operation) }
    }

    private func record(_ completion: Completion) -> Int32 {
        let (waiting, isRefused) = state.withLock { state in
            state.completions.append(completion)
            defer { state.waiting = [] }
            return (state.waiting, state.refused.contains(completion.operation))
        }
        for continuation in waiting { continuation.resume() }
        return isRefused ? Int32(CONNECTOR_UNKNOWN_OPERATION) : 0
    }

    private static func of(_ context: UnsafeMutableRawPointer) -> LineHost {
        unsafe Unmanaged<LineHost>.fromOpaque(context).takeUnretainedValue()
    }
}

/// The status of a request that was given up.
private let CONNECTOR_CANCELLED_STATUS = PluginStatus.cancelled.rawValue
