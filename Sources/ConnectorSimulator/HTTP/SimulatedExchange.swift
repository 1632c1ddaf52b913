// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The answer to a request, and its delivery.
package struct SimulatedExchange: Sendable {
    /// Ways to deliver an answer.
    package enum Delivery: Sendable, Equatable {
        /// The whole answer.
        case complete
        /// The head and half of the body; then the connection closes.
        case truncated
        /// No answer: the connection is reset.
        case reset
    }

    /// The answer, of which ``delivery`` may send only a part.
    package var response: HTTPResponse
    /// How much of the answer to send.
    package var delivery: Delivery = .complete
    /// How long to wait before sending.
    package var delay: Duration = .zero
    /// Sends the body in parts until it returns, in place of the response's body; nil to send the response's body.
    package var stream: Stream?

    /// Writes the parts of a body.
    ///
    /// - Parameters:
    ///   - clock: The clock of the simulator.
    ///   - write: Sends a part; throws once the client is gone.
    package typealias Stream =
        @Sendable (
            _ clock: any Clock<Duration>,
            _ write: @escaping @Sendable ([UInt8]) async throws -> Void
        ) async throws -> Void
}
