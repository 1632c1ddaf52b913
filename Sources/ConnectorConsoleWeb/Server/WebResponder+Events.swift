// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHTTPServer

/// The live changes of a page.
extension WebResponder {
    /// Responds with the changes of a page as server-sent events.
    func events(_ request: ServerRequest, _ permission: Permission) async -> ServerResponse {
        let query = request.parameters
        guard let address = query["at"].flatMap(PageAddress.init) else {
            return refusal(400, .invalid, "at is not a route", request)
        }
        guard await pages.hasRoom else {
            let sentence = "this page does not update: \(LivePages.watcherLimit) others are open; close one of them"
            return refusal(503, .unavailable, sentence, request)
        }
        let version = request.fields["Last-Event-ID"] ?? query["version"] ?? ""
        return ServerResponse(
            status: 200,
            ["Content-Type": "text/event-stream"],
            .stream { [pages] writer in
                guard let watch = await pages.watch(address, as: permission) else { return }
                do {
                    try await Self.send(address, version, permission, watch.changes, pages, to: writer)
                } catch {
                    await pages.unwatch(address, as: permission, watch.number)
                    throw error
                }
                await pages.unwatch(address, as: permission, watch.number)
            }
        )
    }

    /// Sends the changes of a page until the client disconnects.
    private static func send(
        _ address: PageAddress,
        _ version: String,
        _ permission: Permission,
        _ changes: AsyncStream<Void>,
        _ pages: LivePages,
        to writer: BodyWriter
    ) async throws {
        var version = version
        try await writer.write(Array("retry: 2000\n\n".utf8))
        for await _ in changes {
            if let frame = await pages.frame(of: address, for: permission, from: version) {
                try await writer.write(frame.bytes)
                version = frame.version
            } else {
                // Writing this fails if the client has disconnected; the page that gets it knows that the host still answers. It is an
                // event with data, because scripts see nothing else.
                try await writer.write(Array("event: alive\ndata: .\n\n".utf8))
            }
        }
    }
}
