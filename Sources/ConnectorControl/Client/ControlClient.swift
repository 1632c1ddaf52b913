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

    /// How long to wait for an answer that needs no plugin.
    package static let patience: Duration = .seconds(10)

    /// The answer to a GET; nil if no host listens there.
    ///
    /// - Throws: `unavailable` if the host does not answer; the host's own error; `protocol` for an answer that is no
    ///   document.
    package func get(_ path: String) async throws(ConnectorError) -> JSONValue? {
        try await document(.GET, path, nil, within: Self.patience)
    }

    /// The answer to a POST; nil if no host listens there. If the task is cancelled, so is what the host does.
    ///
    /// - Parameters:
    ///   - body: The document to send.
    ///   - patience: The longest wait for the answer; nil for none.
    /// - Throws: As ``get(_:)``; `cancelled` if the task is cancelled.
    package func post(
        _ path: String,
        _ body: JSONObject,
        within patience: Duration? = patience
    ) async throws(ConnectorError) -> JSONValue? {
        try await document(.POST, path, .object(body), within: patience)
    }

    /// Reads the documents of a stream, one a line, until the body has enough, the host ends or the task is cancelled.
    ///
    /// - Parameter body: Takes a document; false to end.
    /// - Returns: Whether a host listens there.
    /// - Throws: As ``get(_:)``.
    package func stream(
        _ path: String,
        _ body: @escaping @Sendable (JSONValue) -> Bool
    ) async throws(ConnectorError) -> Bool {
        var lines = Lines(path)
        let request = Request(method: .GET, path: path, accept: "application/jsonl")
        let answer = try await exchange(request) { bytes in
            for document in try lines.feed(bytes) where !body(document) { return false }
            return true
        }
        return answer != nil
    }

    private func document(
        _ method: HTTPMethod,
        _ path: String,
        _ body: JSONValue?,
        within patience: Duration?
    ) async throws(ConnectorError) -> JSONValue? {
        let request = Request(method: method, path: path, body: body, accept: "application/json", patience: patience)
        guard let answer = try await exchange(request) else { return nil }
        return try JSONValue(parsing: answer, file: path)
    }

    private struct Request {
        var method: HTTPMethod
        var path: String
        var body: JSONValue?
        /// The type of the answer.
        var accept: String
        /// The longest wait for the answer; nil for no limit.
        var patience: Duration?
    }

    /// Makes a request.
    ///
    /// - Parameter part: Takes the parts of a successful answer; false for no more. Nil to return them together.
    /// - Returns: Nil if no host listens.
    private func exchange(
        _ request: Request,
        _ part: ((ByteBufferView) throws -> Bool)? = nil
    ) async throws(ConnectorError) -> [UInt8]? {
        guard let descriptor = ControlSocket.connect(in: directory) else { return nil }
        return try await exchange(request, on: descriptor, part)
    }

    /// Makes a request on a connection.
    ///
    /// Not inlined, for what it needs of generic types takes 0.3 ms where mostly no host listens.
    @inline(never)
    private func exchange(
        _ request: Request,
        on descriptor: Int32,
        _ part: ((ByteBufferView) throws -> Bool)?
    ) async throws(ConnectorError) -> [UInt8] {
        var headers: HTTPHeaders = ["Host": "localhost", "Connection": "close", "Accept": request.accept]
        let bytes = request.body?.utf8() ?? []
        if request.body != nil {
            headers.add(name: "Content-Type", value: "application/json")
            headers.add(name: "Content-Length", value: "\(bytes.count)")
        }
        let head = HTTPRequestHead(version: .http1_1, method: request.method, uri: request.path, headers: headers)
        let (status, answer): (Int, [UInt8])
        do {
            (status, answer) = try await Self.exchange(head, bytes, on: descriptor, within: request.patience, part)
        } catch let error as ConnectorError {
            throw error
        } catch {
            guard !Task.isCancelled else {
                throw ConnectorError(.cancelled, "the host was no longer waited for, and was told to stop")
            }
            throw ConnectorError(
                .unavailable,
                "the host that listens in \(directory) does not answer",
                fix: "look whether its process hangs; connector-host status --no-attach opens the gates itself",
                cause: String(describing: error),
                isRetryable: true
            )
        }
        guard status != 200 else { return answer }
        throw (try? JSONValue(parsing: answer))?["errors"]?[0].flatMap(ConnectorError.init(json:))
            ?? ConnectorError(.failed, "the host answered \(status) to \(request.path)")
    }

    /// The most bytes of an answer.
    private static let limit = 64 << 20

    private static func exchange(
        _ head: HTTPRequestHead,
        _ body: [UInt8],
        on descriptor: Int32,
        within patience: Duration?,
        _ part: ((ByteBufferView) throws -> Bool)?
    ) async throws -> (status: Int, body: [UInt8]) {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .withConnectedSocket(descriptor) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        let channel = connection.channel
        let deadline = patience.map { patience in
            channel.eventLoop.scheduleTask(in: .nanoseconds(Int64(clamping: patience.nanoseconds))) {
                channel.close(promise: nil)
            }
        }
        defer { deadline?.cancel() }
        return try await connection.executeThenClose { answers, requests in
            // Together: a host that has the head may have answered, and closed the connection, before a second write.
            let content: [HTTPClientRequestPart] = body.isEmpty ? [] : [.body(.byteBuffer(ByteBuffer(bytes: body)))]
            try await requests.write(contentsOf: [.head(head)] + content + [.end(nil)])
            var (status, body): (Int?, [UInt8]) = (nil, [])
            do {
                for try await piece in answers {
                    switch piece {
                    case .head(let head): status = Int(head.status.code)
                    case .body(let bytes):
                        if let part, status == 200 {
                            guard try part(bytes.readableBytesView) else { return (200, []) }
                            continue
                        }
                        body += bytes.readableBytesView
                        guard body.count <= limit else { throw ChannelError.eof }
                    case .end: if let status { return (status, body) }
                    }
                }
            } catch let error as ConnectorError {
                throw error
            } catch  where part != nil && status == 200 && !Task.isCancelled {
                // A host that ends breaks its streams off.
                return (200, [])
            }
            throw ChannelError.eof
        }
    }

    /// Puts the lines of a stream together again.
    private struct Lines {
        private let path: String
        private var rest: [UInt8] = []

        init(_ path: String) { self.path = path }

        /// The documents that are whole now.
        mutating func feed(_ bytes: ByteBufferView) throws(ConnectorError) -> [JSONValue] {
            rest += bytes
            guard rest.count <= limit else { throw ConnectorError(.tooLarge, "\(path) answers with an endless line") }
            guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
            var documents: [JSONValue] = []
            for line in rest[..<end].split(separator: UInt8(ascii: "\n")) {
                documents.append(try JSONValue(parsing: Array(line), file: path))
            }
            rest.removeSubrange(...end)
            return documents
        }
    }
}
