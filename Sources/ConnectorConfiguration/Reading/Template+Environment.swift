// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Template {
    /// Expands the variables.
    ///
    /// As in a shell, the default replaces an unset or empty variable.
    ///
    /// - Parameters:
    ///   - environment: The values.
    ///   - limit: The maximum size of the text, in bytes.
    ///   - standIn: Replaces each variable that has neither a value nor a default.
    /// - Returns: The text, or nil if it is too long; the variables that have neither a value nor a default.
    func filled(
        from environment: Configuration.Environment,
        limit: Int = Configuration.sizeLimit,
        standIn: String? = nil
    ) -> (text: String?, missing: [String]) {
        var text = ""
        var missing: [String] = []
        var known: Set<String> = []
        for part in parts {
            guard text.utf8.count <= limit else { return (nil, missing) }
            switch part {
            case .text(let literal): text += literal
            case .variable(let name, let fallback):
                let value = environment[name]
                if let fallback, value?.isEmpty ?? true {
                    text += fallback
                } else if let value {
                    text += value
                } else {
                    text += standIn ?? ""
                    if known.insert(name).inserted { missing.append(name) }
                }
            }
        }
        return (text.utf8.count <= limit ? text : nil, missing)
    }
}
