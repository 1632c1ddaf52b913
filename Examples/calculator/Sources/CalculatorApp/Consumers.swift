// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Keys for two numbers and an operator. Knows only the engine's arithmetic.
struct Keypad {
    /// Its slice of the engine.
    let engine: any Arithmetic

    /// Half of a sum.
    func mean(_ a: Double, _ b: Double) async throws -> Double {
        try await engine.divide(engine.add(a, b), by: 2)
    }
}

/// A line to type formulas in. Knows only that the engine evaluates formulas.
struct FormulaBar {
    /// Its slice of the engine.
    let engine: any Evaluating

    /// The formula with its value, or with its error.
    func line(_ formula: String) async -> String {
        do {
            return "\(formula) = \(try await engine.evaluate(formula))"
        } catch {
            return "\(formula): \(error)"
        }
    }
}

/// A list of prices. Knows only the engine's totals.
struct Receipt {
    /// Its slice of the engine.
    let engine: any Totalling

    /// The last line.
    func total(of prices: [Double]) async throws -> String {
        "total \(try await engine.total(prices))"
    }
}
