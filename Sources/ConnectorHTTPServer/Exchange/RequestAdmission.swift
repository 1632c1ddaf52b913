// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The decision on a request, made from its head alone.
///
/// It is made on the event loop, so a refusal starts no task and reads no body.
package enum RequestAdmission: Sendable {
    /// Send a response without reading the body.
    case answer(ServerResponse)
    /// Read the body, then make the response in a task, which is cancelled if the client disconnects.
    ///
    /// - Parameters:
    ///   - limit: The maximum size of the body, in bytes.
    ///   - tooLarge: Makes the response to a larger body. Called on the event loop.
    ///   - answer: Makes the response.
    case read(
        limit: Int,
        tooLarge: @Sendable () -> ServerResponse,
        answer: @Sendable (ServerRequest) async -> ServerResponse
    )
}
