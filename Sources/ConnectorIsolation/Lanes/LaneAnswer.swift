// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The first word of each message from a runner in a lane.
package enum LaneAnswer: UInt64, Sendable {
    /// The lane is served, or the values follow.
    case answered
    /// An error follows.
    case failed
    /// The call was not made, because it would have had to wait its turn: it may travel as a message.
    case busy
}
