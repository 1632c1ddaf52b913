// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The first word of a message to a runner in a lane: what is called.
package struct LaneTarget: Sendable {
    /// The number of the instance.
    package let instance: UInt32
    /// The operation's position among all operations of the manifest.
    package let position: Int
    /// Whether a batch of calls follows, each in a message that begins with ``more``, up to one of ``noMore``. The runner first
    /// answers whether it takes the batch, then answers each call; calls after a failed one are answered ``LaneAnswer/busy``.
    package let isBatch: Bool

    /// The first word of a batch's message that carries a call.
    package static let more: UInt64 = 1
    /// The only word of a batch's last message, which is not answered. The host also sends it after a refused batch, because it may
    /// not have waited for the refusal. No instance has the number 0, so no target has this word.
    package static let noMore: UInt64 = 0

    private static let batch: UInt64 = 1 << 31

    /// Creates a target.
    package init(instance: UInt32, position: Int, isBatch: Bool = false) {
        (self.instance, self.position, self.isBatch) = (instance, position, isBatch)
    }

    /// Reads the word.
    package init(word: UInt64) {
        instance = UInt32(word >> 32)
        position = Int(word & (Self.batch - 1))
        isBatch = word & Self.batch != 0
    }

    /// The word.
    package var word: UInt64 { UInt64(instance) << 32 | UInt64(position) | (isBatch ? Self.batch : 0) }
}
