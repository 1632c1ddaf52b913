// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
package import ConnectorManifest
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Asks the host that listens in a state directory.
package struct ControlClient: Sendable {
    private let directory: String

    /// Names the directory; connects to nothing.
    package init(_ directory: String) {
        self.directory = directory
    }

    /// The answer to a GET; nil if no host listens there.
    ///
    /// - Throws: `unavailable` if the host does not answer; the host's own error; `protocol` for an answer that is no
    ///   document.
    package func get(_ path: String) async throws(ConnectorError) -> JSONValue? {
        guard let descriptor = ControlSocket.connect(in: directory) else { return nil }
        let (status, body): (Int, [UInt8])
        do {
            (status, body) = try await Self.exchange(path, on: descriptor)
        } catch {
            throw ConnectorError(
                .unavailable,
                "the host that listens in \(directory) does not answer",
                fix: "look whether its process hangs; connector-host status --no-attach opens the gates itself",
                cause: String(describing: error),
                isRetryable: true
            )
        }
        let document = try JSONValue(parsing: body, file: path)
        guard status == 200 else {
            throw document["errors"]?[0].flatMap(ConnectorError.init(json:))
                ?? ConnectorError(.failed, "the host answered \(status) to \(path)")
        }
        return document
    }

    /// The most bytes of an answer.
    private static let limit = 64 << 20

    @concurrent
    private static func exchange(_ path: String, on descriptor: Int32) async throws -> (status: Int, body: [UInt8]) {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .withConnectedSocket(descriptor) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        let deadline = connection.channel.eventLoop.scheduleTask(in: .seconds(10)) {
            connection.channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        return try await connection.executeThenClose { answers, requests in
            let headers: HTTPHeaders = ["Host": "localhost", "Connection": "close"]
            // Together: a host that has the head may have answered, and closed the connection, before a second write.
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
            try await requests.write(contentsOf: [.head(head), .end(nil)])
            var (status, body): (Int?, [UInt8]) = (nil, [])
            for try await part in answers {
                switch part {
                case .head(let head): status = Int(head.status.code)
                case .body(let bytes):
                    body += bytes.readableBytesView
                    guard body.count <= limit else { throw ChannelError.eof }
                case .end: if let status { return (status, body) }
                }
            }
            throw ChannelError.eof
        }
    }
}
