// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Ids of timers and requests, and numbers of instances, unique in the process, so that one gate's id is never valid for another.
package enum ServiceIdentifier {
    private static let last = Atomic<UInt64>(0)

    /// A new id, never 0.
    package static func next() -> UInt64 {
        last.add(1, ordering: .relaxed).newValue
    }
}
