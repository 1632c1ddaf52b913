// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A server that speaks enough of the NATS protocol for a client to believe it, and answers what the test says, including what no
/// real server would. It ends with this value.
package final class FakeNATSServer: Sendable {
    /// What a client sent that may want an answer.
    package struct Request: Sendable {
        package var subject: String
        /// Where answers go; nil for nowhere.
        package var reply: String?
        package var payload: [UInt8]
        /// The number of the client's subscription.
        package var subscription: String

        /// A message to the client's subscription.
        ///
        /// - Parameters:
        ///   - subject: Nil for where answers go.
        ///   - headers: With the line `NATS/1.0`; nil for none.
        package func message(
            _ payload: [UInt8],
            subject: String? = nil,
            reply: String? = nil,
            headers: String? = nil
        ) -> [UInt8] {
            let names = [subject ?? self.reply ?? "nowhere", subscription] + [reply].compactMap(\.self)
            let head = names.joined(separator: " ")
            guard let headers else {
                return Array("MSG \(head) \(payload.count)\r\n".utf8) + payload + Array("\r\n".utf8)
            }
            let lines = Array("\(headers)\r\n\r\n".utf8)
            return Array("HMSG \(head) \(lines.count) \(lines.count + payload.count)\r\n".utf8) + lines + payload
                + Array("\r\n".utf8)
        }
    }

    /// What the server answers.
    package struct Answers: Sendable {
        /// The first line, which describes the server.
        package var greeting: @Sendable () -> [UInt8] = {
            Array(
                #"INFO {"server_id":"F","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576,"jetstream":true}"#
                    .utf8
            ) + Array("\r\n".utf8)
        }
        /// What follows `CONNECT`, given the client's settings; nothing for a client that is welcome.
        package var welcome: @Sendable (String) -> [UInt8] = { _ in [] }
        /// What follows `PING`; nothing from a server that stays silent.
        package var pong: @Sendable () -> [UInt8] = { Array("PONG\r\n".utf8) }
        /// What follows a message.
        package var answer: @Sendable (Request) -> [UInt8] = { _ in [] }
        /// Called when a client's connection has ended.
        package var end: @Sendable () -> Void = {}

        package init() {}
    }

    private struct State {
        var isClosed = false
        var descriptors: Set<Int32> = []
    }

    /// The part that its threads hold.
    private final class Listener: Sendable {
        let state = Mutex(State())
        let answers: Answers

        init(_ answers: Answers) {
            self.answers = answers
        }

        func add(_ descriptor: Int32) -> Bool {
            state.withLock { state in
                if !state.isClosed { state.descriptors.insert(descriptor) }
                return !state.isClosed
            }
        }

        func end(_ descriptor: Int32) {
            // Under the lock, so that nobody shuts down another connection that gets the same number.
            state.withLock { state in
                state.descriptors.remove(descriptor)
                _ = close(descriptor)
            }
        }
    }

    /// Where it listens.
    package let port: UInt16
    private let listener: Listener

    /// The address for clients.
    package var url: String { "nats://127.0.0.1:\(port)" }

    /// Listens on the loopback interface.
    package init(_ answers: Answers) throws {
        let listener = Listener(answers)
        self.listener = listener
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var one: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        port = try LoopbackPort.free()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isBound = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(descriptor, 16) == 0, listener.add(descriptor) else {
            _ = close(descriptor)
            throw ConnectorError(.failed, "no port for a test")
        }
        let isStarted = HostThread.start("fake-nats") {
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { break }
                guard listener.add(client), HostThread.start("fake-nats", { Self.serve(client, listener) }) else {
                    listener.end(client)
                    break
                }
            }
            listener.end(descriptor)
        }
        guard isStarted else { throw ConnectorError(.failed, "no thread for a test") }
    }

    deinit {
        listener.state.withLock { state in
            state.isClosed = true
            for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: Talking

    private static func serve(_ client: Int32, _ listener: Listener) {
        defer {
            listener.end(client)
            listener.answers.end()
        }
        var (reader, subscription) = (Reader(client), "1")
        guard write(listener.answers.greeting(), to: client) else { return }
        while let line = reader.line() {
            let words = line.split(separator: " ").map { String($0) }
            var answer: [UInt8] = []
            switch words.first?.uppercased() {
            case "CONNECT": answer = listener.answers.welcome(line)
            case "PING": answer = listener.answers.pong()
            case "SUB": subscription = words.last ?? "1"
            case "PUB", "HPUB":
                let hasHeaders = words[0].uppercased() == "HPUB"
                guard words.count >= (hasHeaders ? 4 : 3), let size = Int(words[words.count - 1]),
                    let content = reader.bytes(size + 2)
                else { return }
                let headers = hasHeaders ? Int(words[words.count - 2]) ?? 0 : 0
                let request = Request(
                    subject: words[1],
                    reply: words.count > (hasHeaders ? 4 : 3) ? words[2] : nil,
                    payload: Array(content.dropFirst(headers).dropLast(2)),
                    subscription: subscription
                )
                answer = listener.answers.answer(request)
            default: break
            }
            guard answer.isEmpty || write(answer, to: client) else { return }
        }
    }

    private static func write(_ bytes: [UInt8], to client: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Glibc)
                let flags = Int32(MSG_NOSIGNAL)
            #else
                let flags: Int32 = 0
            #endif
            let count = unsafe rest.withUnsafeBytes { unsafe send(client, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads lines and counted bytes.
    private struct Reader {
        let client: Int32
        var buffer: [UInt8] = []

        init(_ client: Int32) {
            self.client = client
        }

        private mutating func fill() -> Bool {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe recv(client, &bytes, bytes.count, 0)
            guard count > 0 else { return false }
            buffer += bytes[..<count]
            return true
        }

        mutating func line() -> String? {
            while true {
                if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: buffer[..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
                    buffer.removeSubrange(...end)
                    return line
                }
                guard buffer.count < 1 << 20, fill() else { return nil }
            }
        }

        mutating func bytes(_ count: Int) -> [UInt8]? {
            guard (0...(64 << 20)).contains(count) else { return nil }
            while buffer.count < count {
                guard fill() else { return nil }
            }
            defer { buffer.removeFirst(count) }
            return Array(buffer[..<count])
        }
    }
}
