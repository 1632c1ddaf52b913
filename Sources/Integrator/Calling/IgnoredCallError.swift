// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Thrown to whoever awaits a call that a call flow with ``Execution/only`` ignored, because another was running.
public struct IgnoredCallError: Error, Hashable, CustomStringConvertible {
    /// Describes the one way in which a call is ignored.
    public init() {}

    /// What happened, and when to call again.
    public var description: String {
        "the call was ignored because another call of this flow is running; call again when that one has completed"
    }
}
