// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The result of a call whose observers have all been called.
struct CompletedCall<Value: Sendable>: Sendable {
    /// The result that the observers received.
    let result: Result<Value, any Error>

    /// Whether the call was cancelled or superseded; such a call has no follow-up calls.
    let isCancelled: Bool
}
