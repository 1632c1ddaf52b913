// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner

/// How long a thread looks at a ring before it sleeps: longer where looking has helped lately, not at all where it has not.
///
/// A store of the other side arrives within some 100 ns if that side runs already; to sleep and be woken takes some µs. With one
/// processor the other side cannot run meanwhile, so nobody looks.
struct RingSpin: Sendable {
    /// The most looks, some 40 µs.
    private static let most = 1024
    private static let least = 16
    private static let isUseful = runner_processors() > 1
    private var looks = 256

    /// Looks until a condition holds.
    ///
    /// - Returns: False if it is time to sleep.
    mutating func spin(until condition: () -> Bool) -> Bool {
        guard Self.isUseful else { return condition() }
        for _ in 0..<looks {
            if condition() {
                looks = min(Self.most, looks + looks / 4)
                return true
            }
            runner_pause()
        }
        looks = max(Self.least, looks / 2)
        return false
    }
}
