// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorHost
internal import NIOCore

/// A client of the host that listens in a state directory.
package struct ControlClient: Sendable {
    private let directory: String
    private let name: ControlSocket.Name

    /// Creates a client of a socket in a state directory, which does not connect yet.
    package init(_ directory: String, _ name: ControlSocket.Name = .control) {
        self.directory = directory
        self.name = name
    }

    /// The timeout of a request that calls no plugin.
    package static let timeout: Duration = .seconds(10)

    /// Makes a GET request.
    ///
    /// - Parameter timeout: The timeout of the request; nil for none.
    /// - Returns: The document; nil if no host listens.
    /// - Throws: `unavailable` if the host does not respond, or is too busy to; the error that the host returned; `protocol` if the
    ///   response is not JSON; what ``ControlSocket/connect(_:in:)`` throws.
    package func get(_ path: String, within timeout: Duration? = timeout) async throws(ConnectorError) -> JSONValue? {
        try await document(ServerRequest("GET", path, ["Accept": "application/json"]), within: timeout)
    }

    /// Makes a POST request. Cancelling the task cancels the call or the change on the host.
    ///
    /// - Parameters:
    ///   - body: The document to send.
    ///   - timeout: The timeout of the request; nil for none.
    /// - Returns: The document; nil if no host listens.
    /// - Throws: Like ``get(_:within:)``; `cancelled` if the task is cancelled.
    package func post(
        _ path: String,
        _ body: JSONObject,
        within timeout: Duration? = timeout
    ) async throws(ConnectorError) -> JSONValue? {
        let fields: HTTPFields = ["Accept": "application/json", "Content-Type": "application/json"]
        let bytes = JSONValue.object(body).utf8()
        return try await document(ServerRequest("POST", path, fields, body: bytes), within: timeout)
    }

    /// Makes a POST request without a timeout, whose refusal is a document, too.
    ///
    /// - Returns: The document of the answer, whatever its status; nil if no host listens.
    /// - Throws: Like ``get(_:within:)``, except that the host's own errors are in the document.
    package func attempt(_ path: String, _ body: JSONObject) async throws(ConnectorError) -> JSONValue? {
        let fields: HTTPFields = ["Accept": "application/json", "Content-Type": "application/json"]
        let request = ServerRequest("POST", path, fields, body: JSONValue.object(body).utf8())
        guard let answer = try await exchange(request, within: nil, takesRefusals: true) else { return nil }
        return try read(answer, of: path)
    }

    /// Reads the documents of a JSON Lines stream until the body stops it, the host ends or the task is cancelled.
    ///
    /// - Parameters:
    ///   - onUnreadable: Called with the reason for each line that is skipped because it is not a document.
    ///   - body: Called with each document; returns false to stop.
    /// - Returns: Whether a host listens.
    /// - Throws: Like ``get(_:within:)``.
    package func stream(
        _ path: String,
        onUnreadable: @escaping @Sendable (ConnectorError) -> Void,
        _ body: @escaping @Sendable (JSONValue) -> Bool
    ) async throws(ConnectorError) -> Bool {
        var lines = Lines(path)
        let request = ServerRequest("GET", path, ["Accept": "application/jsonl"])
        let answer = try await exchange(request, within: nil) { bytes in
            for line in try lines.feed(bytes) {
                switch line {
                case .success(let document): guard body(document) else { return false }
                case .failure(let error): onUnreadable(error)
                }
            }
            return true
        }
        return answer != nil
    }

    private func document(
        _ request: ServerRequest,
        within patience: Duration?
    ) async throws(ConnectorError) -> JSONValue? {
        guard let answer = try await exchange(request, within: patience) else { return nil }
        return try read(answer, of: request.target)
    }

    /// Reads an answer, and says who gave it if it is not JSON.
    private func read(_ answer: [UInt8], of target: String) throws(ConnectorError) -> JSONValue {
        do throws(ConnectorError) {
            return try JSONValue(document: answer)
        } catch {
            throw ConnectorError(
                .protocolViolation,
                "the host that listens in \(directory) answers \(target) with what is not JSON",
                fix: "check which program listens there",
                cause: error.message
            )
        }
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - takesRefusals: Whether the body of an unsuccessful response is returned rather than thrown as an error.
    ///   - part: Called with each part of a successful response; returns false to stop. Nil to return the whole body.
    /// - Returns: Nil if no host listens.
    private func exchange(
        _ request: ServerRequest,
        within patience: Duration?,
        takesRefusals: Bool = false,
        _ part: ((ByteBufferView) throws -> Bool)? = nil
    ) async throws(ConnectorError) -> [UInt8]? {
        guard let descriptor = try ControlSocket.connect(name, in: directory) else { return nil }
        let client = LocalClient(.socket(descriptor), patience: patience)
        return try await exchange(request, on: client, takesRefusals: takesRefusals, part)
    }

    /// Makes a request on a connection.
    ///
    /// Not inlined: instantiating its generic types takes 0.3 ms, which calls without a listening host should not pay for.
    @inline(never)
    private func exchange(
        _ request: ServerRequest,
        on client: LocalClient,
        takesRefusals: Bool,
        _ part: ((ByteBufferView) throws -> Bool)?
    ) async throws(ConnectorError) -> [UInt8] {
        let (status, answer): (Int, [UInt8])
        do {
            (status, answer) = try await client.exchange(request, part)
        } catch var error as ConnectorError {
            if error.code == .tooLarge, error.fix == nil {
                error.fix = "ask for less; with --no-attach, a command opens the gates itself, without this limit"
            }
            throw error
        } catch {
            guard !Task.isCancelled else {
                throw ConnectorError(.cancelled, "the request was cancelled, also on the host")
            }
            throw failure(of: request, error)
        }
        guard status != 200 else { return answer }
        let document = try? JSONValue(document: answer)
        if takesRefusals, document != nil { return answer }
        throw document?["errors"]?[0].flatMap(ConnectorError.init(json:)) ?? Self.refusal(of: request, status, answer)
    }

    /// The error for a request that got no response, or none that can be read.
    private func failure(of request: ServerRequest, _ error: any Error) -> ConnectorError {
        let host = "the host that listens in \(directory)"
        let message: String
        let fix: String
        if error is LocalClient.MissedDeadline {
            message = "\(host) does not respond"
            fix = "check whether its process hangs or is stopped, and end it if so"
        } else if LocalClient.isClosing(error) {
            // A host that stops closes the connections of the requests that it has not answered.
            message = "\(host) has closed the connection without a response"
            fix = "check whether it was stopped, or has crashed, and what the request has done"
        } else {
            message = "the request for \(request.target) to \(host) failed"
            fix = "check which program listens there, and what the request has done"
        }
        return ConnectorError(.unavailable, message, fix: fix, cause: String(describing: error), isRetryable: true)
    }

    /// The error for a response without a document: the server refused the request before the host's API saw it.
    private static func refusal(of request: ServerRequest, _ status: Int, _ answer: [UInt8]) -> ConnectorError {
        let reason = String(decoding: answer.prefix(200).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let cause = reason.isEmpty ? nil : reason
        guard status == 429 || status == 503 else {
            return ConnectorError(
                .failed,
                "the host responded with status \(status) to \(request.target)",
                cause: cause
            )
        }
        return ConnectorError(
            .unavailable,
            "the host is too busy to respond to \(request.target)",
            fix: "try again in a moment",
            cause: cause,
            isRetryable: true
        )
    }

    /// Splits a stream into lines, each a JSON document.
    struct Lines {
        private let path: String
        private var rest: [UInt8] = []

        /// Creates a splitter for the response to the request of a path.
        init(_ path: String) { self.path = path }

        /// Adds bytes and returns the complete lines: each a document, or the reason why it is not one.
        mutating func feed(
            _ bytes: ByteBufferView
        ) throws(ConnectorError) -> [Result<JSONValue, ConnectorError>] {
            // Only the new bytes are searched, because a long line arrives in many parts.
            let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { rest.count + $0 - bytes.startIndex }
            rest += bytes
            guard rest.count <= LocalClient.limit else {
                throw ConnectorError(.tooLarge, "\(path) responds with a line that is too long")
            }
            guard let end else { return [] }
            let lines = rest[..<end].split(separator: UInt8(ascii: "\n")).map { line in
                Result { () throws(ConnectorError) in try Self.document(line, of: path) }
            }
            rest.removeSubrange(...end)
            return lines
        }

        private static func document(_ line: ArraySlice<UInt8>, of path: String) throws(ConnectorError) -> JSONValue {
            do throws(ConnectorError) {
                return try JSONValue(document: Array(line))
            } catch {
                throw ConnectorError(.protocolViolation, "a line of \(path) is not JSON", cause: error.message)
            }
        }
    }
}
