// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorClient
import ConnectorHost

/// Wires every consumer to its slice of the one engine; nobody else sees the host.
struct Configurator {
    /// Wired.
    let keypad: Keypad
    /// Wired.
    let formulas: FormulaBar
    /// Wired.
    let receipt: Receipt

    /// Takes the engine from a host.
    init(_ host: ConnectorHost) throws(ConnectorError) {
        let engine = try Calculator(host.gate("calculator"))
        keypad = Keypad(engine: engine)
        formulas = FormulaBar(engine: engine)
        receipt = Receipt(engine: engine)
    }
}
