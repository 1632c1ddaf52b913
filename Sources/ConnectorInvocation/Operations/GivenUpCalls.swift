// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The calls of one instance that the host gave up and the plugin has not answered since.
///
/// The ABI lets a plugin answer such a call late, once, or never. A plugin that never does must not cost more memory with every
/// call, so past a limit the calls are not remembered any more, and a late answer cannot be told from a second one. The host
/// then blames the plugin for neither.
package struct GivenUpCalls: Sendable {
    /// How many calls are remembered for one instance.
    package static let limit = 4096

    private var ids: Set<UInt64> = []
    private var hasForgotten = false

    /// Remembers a call that is given up now.
    package mutating func insert(_ id: UInt64) {
        if ids.count < Self.limit { ids.insert(id) } else { hasForgotten = true }
    }

    /// Whether the plugin may still answer a call, which was given out at some time.
    package func contains(_ id: UInt64) -> Bool { hasForgotten || ids.contains(id) }

    /// Forgets a call that the plugin answers now.
    ///
    /// - Returns: Whether it was still free to.
    package mutating func remove(_ id: UInt64) -> Bool { ids.remove(id) != nil || hasForgotten }
}
