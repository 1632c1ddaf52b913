// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A server on the loopback interface that answers as a test says, well or badly: plain sockets, so that nothing between
/// the test and the wire repairs what is meant to be broken.
final class LoopbackServer: Sendable {
    /// What it does with a request.
    enum Answer: Sendable {
        /// A response, with its length unless the fields have one.
        case response(Int, [(String, String)] = [], [UInt8] = [])
        /// These bytes, then the connection is closed.
        case raw(String)
        /// What the closure writes, on the connection's thread, then the connection is closed.
        case written(@Sendable (_ write: ([UInt8]) -> Void) -> Void)
        /// The connection is reset.
        case reset
        /// Nothing, until the server stops.
        case stall
    }

    /// A request as it came.
    struct Request: Sendable {
        /// The request line.
        var line = ""
        /// Names in lower case.
        var fields: [String: String] = [:]
        /// The body, of Content-Length or chunked.
        var body: [UInt8] = []

        /// The body as text.
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private struct State {
        var requests: [Request] = []
        var connections: [Int32] = []
        var connectionCount = 0
        var isStopped = false
    }

    /// The port it listens at.
    let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())
    private let answer: @Sendable (Request) -> Answer

    /// Counts the connections that ended.
    let ended = CallCounter()
    private let readsRequests: Bool

    /// Listens; the answer is asked for on the server's threads.
    ///
    /// - Parameter readsRequests: Whether it waits for a whole request; otherwise it answers the first bytes.
    init(readsRequests: Bool = true, _ answer: @escaping @Sendable (Request) -> Answer) {
        self.answer = answer
        self.readsRequests = readsRequests
        (listener, port) = Self.listen()
        let listener = listener
        _ = HostThread.start("loopback") {
            // Whoever uses a descriptor closes it: its number would soon be another socket's.
            defer { close(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                let isStopped = self.state.withLock { state in
                    if !state.isStopped { state.connections.append(connection) }
                    state.connectionCount += 1
                    return state.isStopped
                }
                if isStopped {
                    close(connection)
                } else {
                    _ = HostThread.start("connection") { self.serve(connection) }
                }
            }
        }
    }

    /// A server that answers, whatever has come of the request, with the heads that a test sends, and keeps the connection open.
    ///
    /// - Parameter bytes: What it writes for a text; a whole head unless told.
    static func hasty(
        _ heads: ScriptLine,
        _ bytes: @escaping @Sendable (_ text: String) -> String = { "HTTP/1.1 \($0)\r\n\r\n" }
    ) -> LoopbackServer {
        let hasAnswered = Atomic(false)
        return LoopbackServer(readsRequests: false) { _ in
            if hasAnswered.exchange(true, ordering: .relaxed) { return .stall }
            return .written { write in
                while let head = heads.next() { write(Array(bytes(head).utf8)) }
            }
        }
    }

    /// Ends every connection.
    func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            shutdown(listener, Int32(SHUT_RDWR))
        }
    }

    /// What it received so far.
    var requests: [Request] { state.withLock { $0.requests } }

    /// How many connections there were.
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// A URL of this server.
    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    // MARK: The wire

    private static func listen() -> (Int32, UInt16) {
        #if canImport(Glibc)
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let socket = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                _ = unsafe bind(socket, generic, size)
                _ = unsafe getsockname(socket, generic, &size)
            }
        }
        _ = startListening(socket, 256)
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    private func serve(_ connection: Int32) {
        defer {
            state.withLock { state in
                state.connections.removeAll { $0 == connection }
                close(connection)
            }
            ended.add()
        }
        var input: [UInt8] = []
        while let request = receive(connection, &input) {
            state.withLock { $0.requests.append(request) }
            switch answer(request) {
            case .response(let status, let fields, let body):
                var head = "HTTP/1.1 \(status) Reason\r\n"
                if !fields.contains(where: { $0.0 == "Content-Length" }) { head += "Content-Length: \(body.count)\r\n" }
                for (name, value) in fields { head += "\(name): \(value)\r\n" }
                send(connection, Array((head + "\r\n").utf8) + body)
            case .raw(let text):
                send(connection, Array(text.utf8))
                shutdown(connection, Int32(SHUT_WR))
            case .written(let body):
                body { send(connection, $0) }
                shutdown(connection, Int32(SHUT_WR))
            case .reset:
                var now = linger(l_onoff: 1, l_linger: 0)
                unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
                return
            case .stall:
                continue
            }
        }
    }

    private func send(_ connection: Int32, _ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe sendBytes(connection, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads one request; what follows it stays in the buffer.
    private func receive(_ connection: Int32, _ input: inout [UInt8]) -> Request? {
        while true {
            if let request = Self.parse(&input) { return request }
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            input += buffer[..<count]
            if !readsRequests { return Request() }
        }
    }

    /// A chunked body and how many bytes it takes; nil if its end is not there yet.
    private static func chunks(of input: ArraySlice<UInt8>) -> (body: [UInt8], count: Int)? {
        var (rest, body): (ArraySlice<UInt8>, [UInt8]) = (input, [])
        while let line = rest.firstRange(of: Array("\r\n".utf8)) {
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) ?? 0
            guard rest.endIndex >= line.upperBound + size + 2 else { return nil }
            body += rest[line.upperBound..<line.upperBound + size]
            rest = rest[(line.upperBound + size + 2)...]
            if size == 0 { return (body, rest.startIndex - input.startIndex) }
        }
        return nil
    }

    private static func parse(_ input: inout [UInt8]) -> Request? {
        guard let end = input.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: input[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        var request = Request(line: String(lines[0]))
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            request.fields[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        if request.fields["transfer-encoding"] == "chunked" {
            guard let (body, count) = chunks(of: input[end.upperBound...]) else { return nil }
            request.body = body
            input.removeFirst(end.upperBound + count)
            return request
        }
        let length = request.fields["content-length"].flatMap { Int($0) } ?? 0
        guard input.count >= end.upperBound + length else { return nil }
        request.body = Array(input[end.upperBound..<end.upperBound + length])
        input.removeFirst(end.upperBound + length)
        return request
    }
}

/// listen(2), whose name the class takes.
private func startListening(_ socket: Int32, _ backlog: Int32) -> Int32 { listen(socket, backlog) }

/// send(2) without SIGPIPE.
private func sendBytes(_ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe send(socket, bytes, count, Int32(MSG_NOSIGNAL))
}
