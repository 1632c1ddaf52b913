// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Puts faults into simulators that another process runs on this machine.
package struct FaultClient: Sendable {
    private let port: Int

    /// Names their port.
    package init(port: Int) {
        self.port = port
    }

    /// Replaces the faults, by none if there are none.
    ///
    /// - Returns: The document that lists those that are active then.
    /// - Throws: `unavailable` if no simulators answer; `invalid` if they refuse a fault.
    package func put(_ faults: [String]) async throws(ConnectorError) -> JSONValue {
        let (status, body): (Int, [UInt8])
        do {
            (status, body) = try await exchange(faults.joined(separator: "\n"))
        } catch {
            throw ConnectorError(
                .unavailable,
                "no simulators answer on port \(port) of 127.0.0.1",
                fix: "take the port that simulate, or run --simulate, has printed",
                cause: String(describing: error)
            )
        }
        let document = try JSONValue(parsing: body, file: "")
        guard status == 200, document["faults"] != nil else {
            throw ConnectorError(.invalid, document["error"]?.string ?? "port \(port) is not one of simulators")
        }
        return document
    }

    @concurrent
    private func exchange(_ body: String) async throws -> (status: Int, body: [UInt8]) {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(5))
            .connect(host: "127.0.0.1", port: port) { channel in
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
            let headers: HTTPHeaders = [
                "Host": "127.0.0.1:\(port)", "Content-Length": "\(body.utf8.count)", "Connection": "close",
            ]
            let head = HTTPRequestHead(
                version: .http1_1,
                method: .PUT,
                uri: SimulatorRouter.faultsPath,
                headers: headers
            )
            try await requests.write(contentsOf: [.head(head), .body(.byteBuffer(ByteBuffer(string: body))), .end(nil)])
            var (status, answer): (Int?, [UInt8]) = (nil, [])
            for try await part in answers {
                switch part {
                case .head(let head): status = Int(head.status.code)
                case .body(let bytes):
                    answer += bytes.readableBytesView
                    guard answer.count <= 1 << 20 else { throw ChannelError.eof }
                case .end: if let status { return (status, answer) }
                }
            }
            throw ChannelError.eof
        }
    }
}
