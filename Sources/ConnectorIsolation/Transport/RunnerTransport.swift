// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What carries the messages between a host and its runner, after the first one each way.
package enum RunnerTransport: Sendable {
    /// Rings in shared memory where both processes can wake each other, else the socket.
    case automatic
    /// The socket alone.
    case socket
}
