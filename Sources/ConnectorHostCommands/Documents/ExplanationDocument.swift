// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The explanation of one error code, or the list of all codes.
struct ExplanationDocument: Document {
    /// The explained codes.
    var explanations: [ErrorExplanation]
    /// Whether to print only the first line of each explanation.
    var isList: Bool

    func lines(_ style: TextStyle) -> [String] {
        guard !isList else {
            let width = explanations.map(\.code.rawValue.count).max() ?? 0
            return explanations.map { explanation in
                let code = explanation.code.rawValue
                return style.paint(code, .strong) + String(repeating: " ", count: width - code.count + 2)
                    + explanation.meaning
            }
        }
        return explanations.flatMap { explanation in
            [style.paint(explanation.code.rawValue, .strong) + ": " + explanation.meaning]
                + explanation.causes.map { "  cause: \($0)" } + explanation.fixes.map { "  fix: \($0)" }
        }
    }

    var json: JSONValue {
        [
            "version": 1,
            "codes": .array(
                explanations.map { explanation in
                    [
                        "code": .string(explanation.code.rawValue), "group": .string(explanation.group),
                        "meaning": .string(explanation.meaning),
                        "causes": .array(explanation.causes.map { .string($0) }),
                        "fixes": .array(explanation.fixes.map { .string($0) }),
                    ]
                }
            ),
        ]
    }
}
