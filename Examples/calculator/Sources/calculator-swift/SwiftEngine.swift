// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorKit
import ConnectorManifest

/// A second engine of `calculator/1`, which knows nothing of the first.
struct SwiftEngine: Plugin {
    init(configuration: PluginConfiguration, host: Host) {}

    func open() async throws -> [Evidence] {
        [.configured("needs no server")]
    }

    /// The operation `add`.
    func add(a: Double, b: Double) throws -> Double { a + b }

    /// The operation `divide`.
    func divide(a: Double, b: Double) throws -> Double {
        guard b != 0 else { throw PluginError(.invalid, "division by zero", domain: "calculator") }
        return a / b
    }

    /// The operation `evaluate`.
    func evaluate(expression: String) async throws -> JSONValue {
        var parser = ExpressionParser(expression)
        return ["value": .number(try parser.value())]
    }
}
