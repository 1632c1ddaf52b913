// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// The verdict on a valid configuration, with the gates that would fail all the same.
struct ValidationDocument: Document {
    /// The file checked.
    var file: String
    /// How many gates the host would open.
    var gateCount: Int
    /// Why some gates would fail, in the order of their paths.
    var warnings: [ConnectorError]

    /// Takes a configuration that was found valid.
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
