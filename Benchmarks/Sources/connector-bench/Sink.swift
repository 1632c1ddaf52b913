// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore

/// A server in another process that takes batches as Segment does, and counts the ids of their events.
struct Sink: Sendable {
    private let server: ServerProcess
    /// Where it listens on the loopback interface.
    let port: Int

    /// The address that a client is given.
    var url: String { "http://127.0.0.1:\(port)" }

    /// Starts it.
    ///
    /// - Parameter distance: How many milliseconds it takes to answer a batch.
    init(files: String, distance: Int = 0) throws {
        server = try ServerProcess("'\(files)/sink' \(distance)")
        port = try server.port()
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
        server.close()
    }
}
