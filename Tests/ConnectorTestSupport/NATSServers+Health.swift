// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// What the servers of a cluster say about themselves.
extension NATSServers {
    /// Waits until every server has everything; otherwise, when the next one dies, there may be no majority that has it.
    package func whole() async throws {
        try await wait("the servers do not come back") { lack }
    }

    /// Waits until nothing is amiss.
    private func wait(_ failure: String, _ lack: () -> String?) async throws {
        let clock = SystemHostClock()
        let deadline = clock.now() + 120_000_000_000
        while let lack = lack() {
            guard clock.now() < deadline, !Task.isCancelled else {
                throw ConnectorError(.timedOut, "\(failure): \(lack)")
            }
            _ = await OneShot<Void>().wait(by: clock.now() + 50_000_000, on: clock)
        }
    }

    /// The server that leads the stream; nil while there is none.
    ///
    /// - Parameter other: A server that is not asked: it may take itself for the leader although the others no longer follow it.
    package func leader(of stream: String = "OUTBOX", otherThan other: Int? = nil) -> Int? {
        ports.indices.first { index in
            index != other && streams(of: index).contains { $0["name"]?.string == stream && isLed($0, by: index) }
        }
    }

    /// Waits until another server leads the stream.
    package func leads(otherThan other: Int) async throws {
        try await wait("nobody else leads the stream") { leader(otherThan: other) == nil ? "n\(other) led it" : nil }
    }

    /// What is still missing; nil once every server answers, all of them know the same leader of each stream and consumer, and the
    /// leaders of the streams say that their followers have everything.
    ///
    /// Servers of version 2.9 say that the followers of a consumer are behind until it has something to do, and call themselves
    /// unhealthy. A server that comes back may take itself for a second leader, and answer for what it does not have.
    private var lack: String? {
        var (leaders, whole): ([String: Set<String>], Set<String>) = ([:], [])
        for index in ports.indices {
            guard page("/varz", of: index) != nil else { return "n\(index) does not answer" }
            for stream in streams(of: index) {
                let name = stream["name"]?.string ?? ""
                leaders[name, default: []].insert(leader(of: stream))
                let followers = stream["cluster"]?["replicas"]?.array ?? []
                let isFollowed = followers.allSatisfy { $0["current"] == true && $0["offline"] != true }
                if isLed(stream, by: index), followers.count == ports.count - 1, isFollowed { whole.insert(name) }
                for consumer in stream["consumer_detail"]?.array ?? [] {
                    let name = "\(name) \(consumer["name"]?.string ?? "")"
                    leaders[name, default: []].insert(leader(of: consumer))
                    if isLed(consumer, by: index) { whole.insert(name) }
                }
            }
        }
        guard !leaders.isEmpty else { return "there is no stream" }
        let rest = leaders.filter { $0.value.count > 1 || !whole.contains($0.key) }
        guard !rest.isEmpty else { return nil }
        return rest.map { "\($0.key) led by \($0.value.sorted().joined(separator: " and "))" }.sorted()
            .joined(separator: ", ")
    }

    /// What each server says about each stream, for whoever reads why a test failed.
    package var summary: String {
        ports.indices.flatMap { index in
            streams(of: index).map { stream in
                let state = stream["state"]
                let numbers = ["messages", "first_seq", "last_seq"].map { "\($0) \(state?[$0]?.integer ?? -1)" }
                return "n\(index): \(stream["name"]?.string ?? "") led by \(leader(of: stream)), "
                    + numbers.joined(separator: ", ")
            }
        }
        .joined(separator: "\n")
    }

    /// The name of the server that leads a stream or consumer, as another one says.
    private func leader(of group: JSONValue) -> String { group["cluster"]?["leader"]?.string ?? "none" }

    private func isLed(_ group: JSONValue, by index: Int) -> Bool { leader(of: group) == "n\(index)" }

    /// What a server knows about its streams.
    private func streams(of index: Int) -> [JSONValue] {
        let accounts =
            page("/jsz?accounts=true&streams=true&consumers=true", of: index)?["account_details"]?.array ?? []
        return accounts.flatMap { $0["stream_detail"]?.array ?? [] }
    }

    /// What the monitor of a server answers; nil if it does not.
    private func page(_ path: String, of index: Int) -> JSONValue? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = ports[index].monitor.bigEndian
        unsafe inet_pton(AF_INET, address(index), &target.sin_addr)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = unsafe withUnsafePointer(to: &target) { target in
            unsafe target.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                unsafe connect(descriptor, target, size) == 0
            }
        }
        let request = Array("GET \(path) HTTP/1.0\r\n\r\n".utf8)
        guard isConnected,
            unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
        else { return nil }
        var answer: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe recv(descriptor, &bytes, bytes.count, 0), count > 0 { answer += bytes[..<count] }
        let text = String(decoding: answer, as: UTF8.self)
        guard text.hasPrefix("HTTP/1.0 200"), let head = text.firstRange(of: "\r\n\r\n") else { return nil }
        return try? JSONValue(parsing: Array(text[head.upperBound...].utf8))
    }
}
