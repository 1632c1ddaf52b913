// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The calls of one instance that the host gave up.
///
/// The ABI allows a plugin to complete such a call, to acknowledge the cancellation or because it is late, so the host does not
/// report it as misbehaviour. Memory is bounded: beyond a limit, the host forgets further calls, and can then no longer
/// distinguish their completions from second completions of other calls.
package struct GivenUpCalls: Sendable {
    /// The maximum number of calls remembered per instance.
    package static let limit = 4096

    private var ids: Set<UInt64> = []
    private var hasForgotten = false

    /// Remembers a given-up call.
    package mutating func insert(_ id: UInt64) {
        if ids.count < Self.limit { ids.insert(id) } else { hasForgotten = true }
    }

    /// Whether a call is among those remembered.
    package func remembers(_ id: UInt64) -> Bool { ids.contains(id) }

    /// Whether the host gave up a call, or may have.
    package func contains(_ id: UInt64) -> Bool { hasForgotten || ids.contains(id) }
}
