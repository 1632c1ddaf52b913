// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The calls of one instance that the host gave up.
///
/// The ABI calls a completion of such a call harmless, whether it acknowledges the cancellation, comes late, or both. So
/// the host blames the plugin for none. Memory is bounded: past a limit the host forgets further calls, and then no longer
/// tells their completions from a second completion of a call that had its outcome.
package struct GivenUpCalls: Sendable {
    /// The most calls remembered for one instance.
    package static let limit = 4096

    private var ids: Set<UInt64> = []
    private var hasForgotten = false

    /// Remembers a call that the host gives up.
    package mutating func insert(_ id: UInt64) {
        if ids.count < Self.limit { ids.insert(id) } else { hasForgotten = true }
    }

    /// Whether the host gave up a call that was once begun.
    package func contains(_ id: UInt64) -> Bool { hasForgotten || ids.contains(id) }
}
