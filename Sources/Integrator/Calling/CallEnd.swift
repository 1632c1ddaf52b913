// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The outcome of a call that starts a next call.
public enum CallEnd: Sendable, Hashable {
    /// The call delivered its value.
    case success
    /// The call failed; a cancelled call starts nothing.
    case failure
    /// The call completed, with either outcome.
    case completion
}
