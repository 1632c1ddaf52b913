// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How a call went, once its completion was observed.
struct CallEnding<Value: Sendable>: Sendable {
    /// What the observers were told.
    let result: Result<Value, any Error>

    /// Whether the call was cancelled or overtaken; then nothing follows it.
    let isCancelled: Bool
}
