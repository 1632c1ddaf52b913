// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How far apart attempts to open a gate follow each other after opening failed, until its host closes.
///
/// ``RetryPolicy`` counts the attempts that belong to opening itself; healing begins when those have failed, and never ends by
/// itself.
public struct HealPolicy: Sendable, Hashable {
    /// The longest wait before the first attempt to heal; it doubles from one to the next.
    public var initial: Duration
    /// No wait is longer.
    public var max: Duration

    /// A second at first and a minute in the long run, unless told otherwise.
    public init(initial: Duration = .seconds(1), max: Duration = .seconds(60)) {
        self.initial = initial
        self.max = max
    }
}
