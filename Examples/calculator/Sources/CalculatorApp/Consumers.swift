// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Keys for two numbers and an operator. Knows arithmetic, and no more of the engine.
struct Keypad {
    /// Its slice of the engine.
    let engine: any Arithmetic

    /// Half of a sum.
    func mean(_ a: Double, _ b: Double) async throws -> Double {
        try await engine.divide(engine.add(a, b), by: 2)
    }
}

/// A line to type formulas in. Knows how to have one evaluated, and no more of the engine.
struct FormulaBar {
    /// Its slice of the engine.
    let engine: any Evaluating

    /// The line with its value, or with what is wrong with it.
    func line(_ formula: String) async -> String {
        do {
            return "\(formula) = \(try await engine.evaluate(formula))"
        } catch {
            return "\(formula): \(error)"
        }
    }
}

/// A list of prices. Knows totals, and no more of the engine.
struct Receipt {
    /// Its slice of the engine.
    let engine: any Totalling

    /// The last line.
    func total(of prices: [Double]) async throws -> String {
        "total \(try await engine.total(prices))"
    }
}
