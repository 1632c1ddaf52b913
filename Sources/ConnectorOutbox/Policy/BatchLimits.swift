// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The most that one batch may hold.
package struct BatchLimits: Sendable, Hashable {
    /// The most events.
    package var count: Int
    /// The most bytes of payloads, plus one for each separator. A single event may exceed it.
    package var bytes: Int

    /// Creates limits; each is at least one.
    package init(count: Int = 500, bytes: Int = 500_000) {
        self.count = max(1, count)
        self.bytes = max(1, bytes)
    }
}
