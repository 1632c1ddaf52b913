// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// Every fault of a configuration, found in one pass.
public struct ConfigurationErrors: Error, Sendable, CustomStringConvertible {
    /// The faults in the order of the file; never empty.
    public let errors: [ConnectorError]

    /// Sorts errors into the order of the file.
    package init(_ errors: [ConnectorError]) {
        self.errors = errors.sorted { first, second in
            guard let first = first.position else { return second.position != nil }
            guard let second = second.position else { return false }
            return (first.line, first.column) < (second.line, second.column)
        }
    }

    /// One line for each fault.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}
