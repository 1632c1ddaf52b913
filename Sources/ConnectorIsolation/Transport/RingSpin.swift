// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner

/// How long a thread looks at a ring before it sleeps: longer if looking has helped lately, shorter if it has not.
///
/// A store by the other side arrives within about 100 ns if that side is running; sleeping and being woken takes several µs. Two
/// sides that look for less time than a wake-up takes would wake each other forever, so now and then a thread looks as long as it
/// may. With one processor the other side cannot run meanwhile, so looking is useless.
struct RingSpin: Sendable {
    /// The most looks, about 25 to 40 µs.
    private static let most = 1024
    private static let least = 16
    /// After how many sleeps in a row a thread looks as long as it may.
    private static let trial: UInt8 = 16
    /// Whether the other side can run meanwhile.
    static let isUseful = runner_processors() > 1
    private var looks = 256
    private var sleeps: UInt8 = 0

    /// Looks until a condition holds.
    ///
    /// - Returns: False if it is time to sleep.
    mutating func spin(until condition: () -> Bool) -> Bool {
        guard Self.isUseful else { return condition() }
        let isTrial = sleeps == Self.trial
        for _ in 0..<(isTrial ? Self.most : looks) {
            if condition() {
                looks = isTrial ? Self.most : min(Self.most, looks + looks / 4)
                sleeps = 0
                return true
            }
            runner_pause()
        }
        sleeps = isTrial ? 0 : sleeps + 1
        looks = max(Self.least, looks / 2)
        return false
    }
}
