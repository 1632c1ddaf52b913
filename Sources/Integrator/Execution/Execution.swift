// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The policy for a call that arrives while an earlier call of the same flow is running.
public struct Execution: Sendable, Hashable {
    /// The closed set of policies behind the public names.
    enum Policy: Sendable, Hashable {
        /// Calls do not affect each other.
        case independent
        /// A call that arrives while one runs is ignored.
        case only
        /// Calls run one after the other.
        case queue
        /// A call that arrives cancels every earlier one.
        case latest(debounce: Duration)
    }

    /// The policy that the execution state follows.
    let policy: Policy

    /// Runs every call immediately, concurrently with the others.
    public static let independent = Execution(policy: .independent)

    /// Runs one call and ignores calls that arrive while it runs: for a form that must not be submitted twice.
    public static let only = Execution(policy: .only)

    /// Runs calls one at a time in the order of their arrival.
    public static let queue = Execution(policy: .queue)

    /// Cancels earlier calls in favor of the newest: for searching as the user types.
    public static let latest = Execution(policy: .latest(debounce: .zero))

    /// Cancels earlier calls, and runs the newest once no other has arrived for a while.
    ///
    /// - Parameter debounce: How long a call waits for a newer one, on the call flow's clock; zero or less means no
    ///   wait.
    /// - Returns: The policy.
    public static func latest(debounce: Duration) -> Execution {
        Execution(policy: .latest(debounce: min(max(debounce, .zero), .longestWait)))
    }
}
