// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// What is to be sent for one request, and how.
package struct SimulatedExchange: Sendable {
    /// How the answer travels.
    package enum Delivery: Sendable, Equatable {
        /// Completely.
        case complete
        /// The head announces all of it, half of the body follows, then the connection closes.
        case truncated
        /// Not at all: the connection is reset.
        case reset
    }

    /// The answer, also when little or nothing of it is sent.
    package var response: HTTPResponse
    /// How much of it is sent.
    package var delivery: Delivery = .complete
    /// How long to wait before sending it.
    package var delay: Duration = .zero
}
