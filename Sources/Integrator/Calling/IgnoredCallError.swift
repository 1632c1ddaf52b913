// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The error of a call that a call flow with ``Execution/only`` ignored because another call was running.
public struct IgnoredCallError: Error, Hashable, CustomStringConvertible {
    /// Creates the error; there is only one reason to ignore a call.
    public init() {}

    /// The reason, and when to call again.
    public var description: String {
        "the call was ignored because another call of this flow is running; call again when that one has completed"
    }
}
