// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// A service that answers requests with a method once the test says so.
struct HoldingHTTP: HTTPService {
    let script: any HTTPService
    let method: HTTPRequest.Method
    let reached = OneShot<Void>()
    let released = OneShot<Void>()

    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        if request.method == method {
            reached.send()
            await released.wait()
        }
        return try await script.send(request)
    }

    func stream(
        _ request: HTTPRequest,
        body: HTTPUpload?,
        silence: Duration?
    ) async throws(PluginError) -> HTTPStream {
        try await script.stream(request, body: body, silence: silence)
    }
}
