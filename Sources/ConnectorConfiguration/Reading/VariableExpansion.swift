// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

/// Expands the variables in a configuration's texts, up to a limit on their total size.
///
/// A reference takes four bytes, and its value may take thousands: without a limit, a small file could exhaust memory.
struct VariableExpansion {
    /// The values of the variables.
    let environment: Configuration.Environment
    /// The number of bytes left up to the limit.
    private var remainingBytes = Configuration.sizeLimit

    /// Creates an expansion with the full limit.
    init(_ environment: Configuration.Environment) {
        self.environment = environment
    }

    /// Expands the variables in a text; nil, with an error reported, if one is not set, the text is malformed, or the limit is
    /// exceeded.
    ///
    /// - Parameter standIn: Replaces variables that are not set, which is then not an error.
    /// - Returns: The expanded text, whether the text was a single variable, and whether the stand-in is part of it.
    mutating func filled(
        _ text: String,
        at path: JSONPath,
        standIn: String? = nil,
        reporting json: inout JSONReader
    ) -> (text: String, isOneVariable: Bool, hasStandIn: Bool)? {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return (text, false, false) }
        guard remainingBytes > 0 || json.hasRoom() else { return nil }
        do throws(Template.ParseError) {
            let template = try Template(parsing: text)
            let (filled, missing) = template.filled(
                from: environment,
                limit: remainingBytes,
                standIn: standIn
            )
            for name in missing where standIn == nil && json.hasRoom() {
                json.report(
                    .missingVariable,
                    "the environment variable \(name.excerpt) is not set",
                    fix: "set it, or write ${\(name.excerpt):-default}",
                    at: path
                )
            }
            guard missing.isEmpty || standIn != nil else { return nil }
            guard let filled else {
                remainingBytes = 0
                json.report(
                    .tooLarge,
                    "with variables expanded, the texts exceed \(Configuration.sizeLimit >> 10) KiB",
                    fix: "shorten the variables, or use them less often",
                    at: path
                )
                return nil
            }
            if let name = damaged(in: template, filled: filled) {
                json.report(
                    .invalidValue,
                    "the environment variable \(name.excerpt) is not UTF-8 text",
                    fix: "set it to UTF-8 text",
                    at: path
                )
                return nil
            }
            remainingBytes -= filled.utf8.count
            return (filled, template.isOneVariable, !missing.isEmpty)
        } catch {
            json.report(.invalidValue, error.message, at: path)
            return nil
        }
    }

    /// A variable whose bytes are not the ones in the text; nil if there is none.
    private func damaged(in template: Template, filled text: String) -> String? {
        // Each byte that is not UTF-8 became an escape. Looking for one is faster than asking the environment again.
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return nil }
        for case .variable(let name, _) in template.parts where environment.isDamaged(name) { return name }
        return nil
    }
}
