// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A value that can be written as JSON.
public protocol JSONRepresentable: Sendable {
    /// The value as JSON.
    var json: JSONValue { get }
}
