// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What becomes of a request, by its head alone.
///
/// It is decided on the event loop, so that a refusal costs neither a task nor the reading of a body.
package enum RequestAdmission: Sendable {
    /// The answer is known.
    case answer(ServerResponse)
    /// The body is read, and then the answer is made. The task is cancelled when the client breaks the connection off.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of the body.
    ///   - tooLarge: Answers a larger one.
    ///   - answer: Makes the answer of the request, which has its body now.
    case read(
        limit: Int,
        tooLarge: @Sendable () -> ServerResponse,
        answer: @Sendable (ServerRequest) async -> ServerResponse
    )
}
