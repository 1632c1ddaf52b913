// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The outcome of a call at one leaf of the tree: it took the call, or it failed with an error.
public struct CallOutcome: Sendable {
    /// The leaf's path, such as `analytics/segment`.
    public var connector: String
    /// The reason for the failure; nil if the leaf took the call.
    public var error: ConnectorError?

    /// Creates an outcome; without an error, it is a success.
    public init(_ connector: String, error: ConnectorError? = nil) {
        self.connector = connector
        self.error = error
    }

    /// Whether the leaf took the call.
    public var isSuccess: Bool { error == nil }
}

extension CallOutcome: CustomStringConvertible {
    /// One line, such as `shop/search: taken` or `shop/search: no answer in time [timed-out]`.
    public var description: String { "\(connector): \(error?.asCause ?? "taken")" }
}
