// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorHost
internal import NIOCore

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
        try await document(ServerRequest("GET", path, ["Accept": "application/json"]), within: Self.patience)
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
        let fields: HTTPFields = ["Accept": "application/json", "Content-Type": "application/json"]
        let bytes = JSONValue.object(body).utf8()
        return try await document(ServerRequest("POST", path, fields, body: bytes), within: patience)
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
        let request = ServerRequest("GET", path, ["Accept": "application/jsonl"])
        let answer = try await exchange(request, within: nil) { bytes in
            for document in try lines.feed(bytes) where !body(document) { return false }
            return true
        }
        return answer != nil
    }

    private func document(
        _ request: ServerRequest,
        within patience: Duration?
    ) async throws(ConnectorError) -> JSONValue? {
        guard let answer = try await exchange(request, within: patience) else { return nil }
        return try JSONValue(parsing: answer, file: request.target)
    }

    /// Makes a request.
    ///
    /// - Parameter part: Takes the parts of a successful answer; false for no more. Nil to return them together.
    /// - Returns: Nil if no host listens.
    private func exchange(
        _ request: ServerRequest,
        within patience: Duration?,
        _ part: ((ByteBufferView) throws -> Bool)? = nil
    ) async throws(ConnectorError) -> [UInt8]? {
        guard let descriptor = try ControlSocket.connect(in: directory) else { return nil }
        return try await exchange(request, on: LocalClient(.socket(descriptor), patience: patience), part)
    }

    /// Makes a request on a connection.
    ///
    /// Not inlined, for what it needs of generic types takes 0.3 ms where mostly no host listens.
    @inline(never)
    private func exchange(
        _ request: ServerRequest,
        on client: LocalClient,
        _ part: ((ByteBufferView) throws -> Bool)?
    ) async throws(ConnectorError) -> [UInt8] {
        let (status, answer): (Int, [UInt8])
        do {
            (status, answer) = try await client.exchange(request, part)
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
            ?? ConnectorError(.failed, "the host answered \(status) to \(request.target)")
    }

    /// Puts the lines of a stream together again.
    private struct Lines {
        private let path: String
        private var rest: [UInt8] = []

        init(_ path: String) { self.path = path }

        /// The documents that are whole now.
        mutating func feed(_ bytes: ByteBufferView) throws(ConnectorError) -> [JSONValue] {
            rest += bytes
            guard rest.count <= LocalClient.limit else {
                throw ConnectorError(.tooLarge, "\(path) answers with an endless line")
            }
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
