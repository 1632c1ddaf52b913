// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The calls of one instance that the host gave up and the plugin has not yet completed.
///
/// The ABI lets a plugin complete such a call late, once, or never. A plugin that never does must not cost more memory
/// with every call. So past a limit the host forgets further calls. It can then no longer tell a late completion from a
/// second one, and blames the plugin for neither.
package struct GivenUpCalls: Sendable {
    /// The most calls remembered for one instance.
    package static let limit = 4096

    private var ids: Set<UInt64> = []
    private var hasForgotten = false

    /// Remembers a call that the host gives up.
    package mutating func insert(_ id: UInt64) {
        if ids.count < Self.limit { ids.insert(id) } else { hasForgotten = true }
    }

    /// Whether the plugin may still complete a call that was once begun.
    package func contains(_ id: UInt64) -> Bool { hasForgotten || ids.contains(id) }

    /// Forgets a call that the plugin completes.
    ///
    /// - Returns: Whether the plugin was still allowed to complete it.
    package mutating func remove(_ id: UInt64) -> Bool { ids.remove(id) != nil || hasForgotten }
}
