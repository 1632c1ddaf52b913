// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A server in another process that takes batches as Segment does, and counts the ids of their events.
///
/// It ends with this process, however that ends. Sendable: its stream is used by ``close()`` alone, once.
@safe struct Sink: Sendable {
    private nonisolated(unsafe) let stream: UnsafeMutablePointer<FILE>
    /// Where it listens on the loopback interface.
    let port: Int

    /// The address that a client is given.
    var url: String { "http://127.0.0.1:\(port)" }

    /// Starts it.
    ///
    /// - Parameter distance: How many milliseconds it takes to answer a batch.
    init(files: String, distance: Int = 0) throws {
        guard let stream = unsafe popen("exec '\(files)/sink' \(distance)", "r") else {
            throw Failure("the sink does not start")
        }
        unsafe self.stream = stream
        var line = [CChar](repeating: 0, count: 16)
        guard unsafe fgets(&line, 16, stream) != nil else { throw Failure("the sink names no port") }
        port = unsafe Int(atoi(line))
    }

    /// Waits until every one of some events has arrived, and no other.
    func prove(_ count: Int) async throws {
        let arrived = try await wait(for: count)
        guard arrived == count else { throw Failure("of \(count) events arrived \(arrived)") }
    }

    /// Waits until at least some events have arrived.
    ///
    /// - Returns: How many have.
    func wait(for count: Int) async throws -> Int {
        let request = HTTPClientRequest(url: "\(url)/count/\(count)")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(90))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 10))
        guard let arrived = text.split(separator: " ").first.flatMap({ Int($0) }), arrived >= count else {
            throw Failure("of \(count) events arrived \(text)")
        }
        return arrived
    }

    /// Ends it.
    func close() {
        _ = unsafe pclose(stream)
    }
}
