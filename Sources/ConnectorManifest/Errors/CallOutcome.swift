// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How one leaf of the tree fared in a call: it took the call, or it failed with an error.
public struct CallOutcome: Sendable {
    /// The leaf's path, such as `analytics/segment`.
    public var connector: String
    /// Why it failed; nil if it took the call.
    public var error: ConnectorError?

    /// Makes an outcome.
    public init(_ connector: String, error: ConnectorError? = nil) {
        self.connector = connector
        self.error = error
    }

    /// Whether the leaf took the call.
    public var isSuccess: Bool { error == nil }
}
