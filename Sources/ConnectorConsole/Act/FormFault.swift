// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The errors in a form's values.
public struct FormFault: Error, Sendable, Hashable {
    /// The message for each invalid field, by the field's name.
    public let errors: [String: String]

    /// Creates an error from messages by field name.
    public init(_ errors: [String: String]) { self.errors = errors }
}
