// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// Every fault of a configuration, found in one pass.
public struct ConfigurationErrors: Error, Sendable, CustomStringConvertible {
    /// The faults in the order of the files and of the places in them; never empty.
    public let errors: [ConnectorError]

    /// How many further faults were found, which ``errors`` leaves out.
    public let omitted: Int

    /// Sorts errors into the order of the files and of the places in them, and keeps the first ones.
    ///
    /// - Parameter files: The files in their order, as far as they are known. Others follow.
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

    /// One line for each fault.
    public var description: String {
        let more = omitted > 0 ? ["and \(omitted) more"] : []
        return (errors.map(\.description) + more).joined(separator: "\n")
    }
}
