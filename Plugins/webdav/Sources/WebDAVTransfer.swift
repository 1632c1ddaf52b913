// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorKit
internal import Synchronization

/// A request whose body comes from several calls, one part at a time.
final class WebDAVTransfer: Sendable {
    /// A part, and the signal that the request has taken it.
    private typealias Offer = (content: [UInt8], taken: OneShot<Void>)

    /// The request, without its body.
    let request: HTTPRequest
    private let path: String
    private let connection: WebDAVConnection
    private let offers: AsyncStream<Offer>
    private let sink: AsyncStream<Offer>.Continuation
    private let outcome = OneShot<Result<HTTPResponse, PluginError>>()
    private let state = Mutex(State())

    private struct State {
        var task: Task<Void, Never>?
        /// The part that the request has not taken yet.
        var offered: OneShot<Void>?
        var isCancelled = false
        /// Whether a call has failed with the reason that the request ended.
        var isReported = false
    }

    /// Begins a request to a path, which waits for its body.
    init(_ request: HTTPRequest, at path: String, _ connection: WebDAVConnection) {
        (self.request, self.path, self.connection) = (request, path, connection)
        (offers, sink) = AsyncStream.makeStream(of: Offer.self)
        let task = Task { [self] in
            do throws(PluginError) {
                let upload = HTTPUpload { [self] () throws(PluginError) in try await next() }
                end(.success(try await connection.stream(request, upload)))
            } catch {
                end(.failure(error))
            }
        }
        state.withLock { $0.task = task }
    }

    /// Sends a part, once the request has room for it.
    ///
    /// - Throws: The reason that the request ended before its body, or `cancelled`. In either case the body lacks a part, and the transfer
    ///   is over: later calls throw `notFound`, so that the upload begins again.
    func send(_ content: [UInt8]) async throws(PluginError) {
        let taken = OneShot<Void>()
        state.withLock { $0.offered = taken }
        if outcome.value == nil {
            sink.yield((content, taken))
            guard await taken.waitUnlessCancelled() != nil else {
                cancel()
                throw PluginError(.cancelled, "the part was not sent whole; begin the upload again", domain: "webdav")
            }
        }
        guard let outcome = outcome.value else { return }
        let isReported = state.withLock { state in
            defer { state.isReported = true }
            return state.isReported
        }
        guard !isReported else {
            throw PluginError(
                .notFound,
                "the request with the upload's content broke off; begin the upload again",
                domain: "webdav"
            )
        }
        throw try await connection.refusal(try outcome.get(), to: request, at: path)
    }

    /// Ends the body.
    ///
    /// - Returns: The response, whatever its status.
    func finish() async throws(PluginError) -> HTTPResponse {
        sink.finish()
        guard let outcome = await outcome.waitUnlessCancelled() else {
            cancel()
            throw PluginError(.cancelled, "the upload was cancelled", domain: "webdav")
        }
        return try outcome.get()
    }

    /// Ends the request without the rest of its body.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
        sink.finish()
    }

    /// Waits for the next part of the body.
    private func next() async throws(PluginError) -> [UInt8]? {
        for await offer in offers {
            offer.taken.send()
            return offer.content
        }
        // Otherwise the server would keep what it has received as the whole file.
        guard !Task.isCancelled, !state.withLock(\.isCancelled) else {
            throw PluginError(.cancelled, "the upload was given up", domain: "webdav")
        }
        return nil
    }

    private func end(_ result: Result<HTTPResponse, PluginError>) {
        outcome.send(result)
        sink.finish()
        state.withLock { $0.offered }?.send()
    }
}
