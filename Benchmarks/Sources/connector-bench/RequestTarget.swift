// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import CConnector
internal import ConnectorHost
internal import Logging
internal import NIOCore
internal import NIOHTTP1

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A server in a process of its own, and the same request to it by the HTTP client alone and through `http/1`.
///
/// Sendable: the table is constant until ``close()``, and its functions may be called from any thread (http.h).
@safe struct RequestTarget: Sendable {
    /// What the request carries, as an adapter sends a few events.
    private static let body = Array(#"{"batch":[{"event":"Order Completed","total":42.5}],"key":"0123456789"}"#.utf8)
    private static let fields = [
        ("Content-Type", "application/json"), ("User-Agent", "connector-host"), ("Accept-Encoding", "gzip"),
    ]

    private let server: ServerProcess
    private let url: String
    private let client: HTTPClient
    private let host: HostServices
    private let gate: GateServices
    private nonisolated(unsafe) let table: UnsafePointer<connector_http>

    /// Starts the server, without a connection to it.
    init(files: String) throws {
        server = try ServerProcess("'\(files)/serve'")
        url = "http://127.0.0.1:\(try server.port())/v1/batch"
        client = HTTPClient(eventLoopGroupProvider: .singleton)
        host = HostServices()
        gate = GateServices(
            host: host,
            context: .init(path: "bench", services: ["http/1"], egress: ["127.0.0.1"], logger: Logger(label: "bench"))
        )
        guard let table = unsafe gate.table(named: "http/1") else { throw Failure("there is no http/1") }
        unsafe self.table = table.assumingMemoryBound(to: connector_http.self)
    }

    /// Closes every connection, upon which the server ends.
    func close() async throws {
        await gate.stopAndAwaitCallbacks()
        gate.invalidate()
        await host.stop()
        try await client.shutdown()
        guard server.close() else { throw Failure("the server failed") }
    }

    /// Sends requests, several at a time, and returns the nanoseconds of processor time that this process took for each.
    static func cost(
        of count: Int,
        atOnce: Int,
        _ send: @escaping @Sendable () async throws -> UInt32
    ) async throws -> Double {
        let start = Usage.processorTime
        try await withThrowingTaskGroup { group in
            for _ in 0..<atOnce {
                group.addTask {
                    for _ in 0..<(count / atOnce) {
                        guard try await send() == 200 else { throw Failure("a request failed") }
                    }
                }
            }
            try await group.waitForAll()
        }
        return (Usage.processorTime - start) / Double(count)
    }

    /// The request through the HTTP client, as its documentation shows it.
    func byClient() async throws -> UInt32 {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = HTTPHeaders(Self.fields)
        request.body = .bytes(ByteBuffer(bytes: Self.body))
        let response = try await client.execute(request, timeout: .seconds(30))
        _ = try await response.body.collect(upTo: 1 << 20)
        return UInt32(response.status.code)
    }

    /// The request through the older interface of the HTTP client, which makes no tasks.
    func byFuture() async throws -> UInt32 {
        let request = try HTTPClient.Request(
            url: url,
            method: .POST,
            headers: HTTPHeaders(Self.fields),
            body: .byteBuffer(ByteBuffer(bytes: Self.body))
        )
        return UInt32(try await client.execute(request: request, deadline: .now() + .seconds(30)).get().status.code)
    }

    /// The request as a plugin sends it.
    func byPlugin() async throws -> UInt32 {
        await withCheckedContinuation { continuation in
            let user = unsafe Unmanaged.passRetained(Reply(continuation)).toOpaque()
            let status = unsafe send(user)
            if status != CONNECTOR_OK { unsafe Reply.done(user, status, nil, nil) }
        }
    }

    private func send(_ user: UnsafeMutableRawPointer) -> Int32 {
        let name = "Content-Type"
        let value = "application/json"
        return unsafe url.withCString { address in
            unsafe name.withCString { name in
                unsafe value.withCString { value in
                    unsafe Self.body.withUnsafeBufferPointer { body in
                        var header = unsafe connector_http_header(
                            name: name,
                            name_length: UInt64(strlen(name)),
                            value: value,
                            value_length: UInt64(strlen(value))
                        )
                        return unsafe "POST".withCString { method in
                            unsafe withUnsafePointer(to: &header) { header in
                                var request = unsafe connector_http_request(
                                    struct_size: UInt32(MemoryLayout<connector_http_request>.size),
                                    flags: 0,
                                    method: method,
                                    method_length: 4,
                                    url: address,
                                    url_length: UInt64(strlen(address)),
                                    headers: header,
                                    header_count: 1,
                                    body: body.baseAddress,
                                    body_length: UInt64(body.count),
                                    deadline_ns: .max,
                                    during: 0
                                )
                                var id: UInt64 = 0
                                var error = connector_error()
                                error.struct_size = UInt32(MemoryLayout<connector_error>.size)
                                return unsafe table.pointee.request(
                                    table.pointee.context,
                                    &request,
                                    Reply.done,
                                    user,
                                    &id,
                                    &error
                                )
                            }
                        }
                    }
                }
            }
        }
    }

    /// Receives the end of a request.
    private final class Reply: Sendable {
        let continuation: CheckedContinuation<UInt32, Never>

        init(_ continuation: CheckedContinuation<UInt32, Never>) {
            self.continuation = continuation
        }

        static let done: connector_http_done = { user, _, response, _ in
            guard let user = unsafe user else { return }
            let reply = unsafe Unmanaged<Reply>.fromOpaque(user).takeRetainedValue()
            reply.continuation.resume(returning: unsafe response?.pointee.status ?? 0)
        }
    }
}
