// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

/// Fills in the variables of a configuration's texts, up to a limit for all of them together.
///
/// A reference has four bytes, and its value may have thousands: without a limit a small file could fill the memory.
struct VariableExpansion {
    /// The variables.
    let environment: Configuration.Environment
    /// The bytes that are left of the limit.
    private var room = Configuration.sizeLimit

    /// Creates an expansion that has used none of its limit.
    init(_ environment: Configuration.Environment) {
        self.environment = environment
    }

    /// A text with its variables filled in; nil, with an error, if one is missing, the text is malformed, or the limit is
    /// reached.
    ///
    /// - Returns: The text, and whether it was a single variable and nothing else.
    mutating func filled(
        _ text: String,
        at path: JSONPath,
        reporting json: inout JSONReader
    ) -> (text: String, isOneVariable: Bool)? {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return (text, false) }
        guard room > 0 || json.hasRoom() else { return nil }
        do throws(Template.Malformed) {
            let template = try Template(parsing: text)
            let (filled, missing) = template.filled(from: environment, limit: room)
            for name in missing where json.hasRoom() {
                json.report(
                    .missingVariable,
                    "the environment variable \(name.excerpt) is not set",
                    fix: "set it, or write ${\(name.excerpt):-default}",
                    at: path
                )
            }
            guard missing.isEmpty else { return nil }
            guard let filled else {
                room = 0
                json.report(
                    .tooLarge,
                    "with their variables filled in, the texts have more than \(Configuration.sizeLimit >> 10) KiB",
                    fix: "shorten the variables, or refer to them less often",
                    at: path
                )
                return nil
            }
            room -= filled.utf8.count
            return (filled, template.isOneVariable)
        } catch {
            json.report(.invalidValue, error.message, at: path)
            return nil
        }
    }
}
