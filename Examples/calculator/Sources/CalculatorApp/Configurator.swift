// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorClient
import ConnectorHost

/// Wires every consumer to its slice of the one engine. No other type sees the host.
struct Configurator {
    /// The keypad, wired to the engine.
    let keypad: Keypad
    /// The formula bar, wired to the engine.
    let formulas: FormulaBar
    /// The receipt, wired to the engine.
    let receipt: Receipt

    /// Gets the engine from a host, and wires the consumers.
    init(_ host: ConnectorHost) throws(ConnectorError) {
        let engine = try Calculator(host.gate("calculator"))
        keypad = Keypad(engine: engine)
        formulas = FormulaBar(engine: engine)
        receipt = Receipt(engine: engine)
    }
}
