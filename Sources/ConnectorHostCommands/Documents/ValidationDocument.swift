// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// That a configuration is valid, and which of its gates would fail all the same.
struct ValidationDocument: Document {
    /// What was checked.
    var file: String
    /// How many gates would be opened.
    var gateCount: Int
    /// Why some of them would fail, in the order of their paths.
    var warnings: [ConnectorError]

    /// Takes what a file turned out to mean.
    init(resolved: ResolvedConfiguration) {
        file = resolved.configuration.file
        gateCount = resolved.leaves.count
        warnings = resolved.leaves.sorted { $0.key < $1.key }.compactMap { path, leaf in
            guard case .failure(var error) = leaf else { return nil }
            error.connector = error.connector ?? path
            return error
        }
    }

    func lines(_ style: TextStyle) -> [String] {
        var lines: [String] = []
        for warning in warnings {
            let error = ErrorLines(error: warning)
            let connector = style.shown(warning.connector ?? "")
            lines.append("\(style.paint("warning:", .warning)) \(connector): \(error.headline(style))")
            lines += error.details(style).map { "    " + $0 }
        }
        let gates = gateCount == 1 ? "1 gate" : "\(gateCount) gates"
        let verdict = warnings.isEmpty ? "" : ", of which \(warnings.count) would fail"
        let mark: TextStyle.Mark = warnings.isEmpty ? .good : .warning
        let sign = style.paint(style.sign(mark), style.colour(mark))
        return lines + ["\(sign) \(style.shown(file)) is valid: \(gates)\(verdict)"]
    }

    var json: JSONValue {
        [
            "version": 1, "valid": true, "gates": .integer(Int64(gateCount)), "errors": [],
            "warnings": .array(warnings.map(\.json)),
        ]
    }
}
