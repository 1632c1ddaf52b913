// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// All the errors in a configuration, found in one pass.
public struct ConfigurationErrors: Error, Sendable, CustomStringConvertible {
    /// The errors, sorted by file and position; never empty.
    public let errors: [ConnectorError]

    /// The number of errors found but omitted from ``errors``.
    public let omitted: Int

    /// Sorts errors by file and position, and keeps the first ones.
    ///
    /// - Parameter files: The known files, in order. Any others sort after them.
    package init(_ errors: [ConnectorError], omitted: Int = 0, files: [JSONText] = []) {
        var ranks: [String: Int] = [:]
        for file in files.map(\.file) + errors.compactMap(\.position?.file) where ranks[file] == nil {
            ranks[file] = ranks.count
        }
        let sorted = errors.sorted { first, second in
            guard let first = first.position else { return second.position != nil }
            guard let second = second.position else { return false }
            return (ranks[first.file] ?? 0, first.line, first.column)
                < (ranks[second.file] ?? 0, second.line, second.column)
        }
        self.errors = Array(sorted.prefix(JSONReader.problemLimit))
        self.omitted = omitted + sorted.count - self.errors.count
    }

    /// One line per error.
    public var description: String {
        let more = omitted > 0 ? ["and \(omitted) more"] : []
        return (errors.map(\.description) + more).joined(separator: "\n")
    }
}
