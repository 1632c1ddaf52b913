// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// When to refuse calls to a gate whose calls fail, and for how long: a circuit breaker.
///
/// After ``failures`` failed calls in a row, all of them within ``window``, the breaker opens and refuses calls. Once ``probe`` has
/// passed it lets one call through as a trial: a success closes it, a failure opens it again.
public struct BreakerPolicy: Sendable, Hashable {
    /// How many calls in a row have to fail: 1 to 1000.
    public var failures: Int
    /// How long a failure counts.
    public var window: Duration
    /// How long the breaker refuses calls before it lets one through.
    public var probe: Duration

    /// Creates a policy; by default, five failures within a minute, and a trial call every ten seconds.
    public init(failures: Int = 5, window: Duration = .seconds(60), probe: Duration = .seconds(10)) {
        self.failures = failures
        self.window = window
        self.probe = probe
    }
}
