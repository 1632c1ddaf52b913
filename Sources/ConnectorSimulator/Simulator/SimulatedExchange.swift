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
}
