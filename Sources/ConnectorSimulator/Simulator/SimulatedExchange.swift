// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The answer to a request, and its delivery.
package struct SimulatedExchange: Sendable {
    /// Ways to deliver an answer.
    package enum Delivery: Sendable, Equatable {
        /// Completely.
        case complete
        /// The head announces all of it, half of the body follows, then the connection closes.
        case truncated
        /// No answer: the connection is reset.
        case reset
    }

    /// The answer, even if little or nothing of it is sent.
    package var response: HTTPResponse
    /// How much of the answer to send.
    package var delivery: Delivery = .complete
    /// The wait before sending.
    package var delay: Duration = .zero
}
