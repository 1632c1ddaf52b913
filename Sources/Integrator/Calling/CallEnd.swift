// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The ends of a call that a next call can be tied to.
public enum CallEnd: Sendable, Hashable {
    /// The call delivered its value.
    case success
    /// The call failed; a cancelled call starts nothing.
    case failure
    /// The call is over, whatever the outcome.
    case completion
}
