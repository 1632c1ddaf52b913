// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost

/// A typed client of `calculator/1`, whichever plugin provides it.
///
/// It holds one gate and nothing else of the host. Use it from any thread.
public struct Calculator: Sendable {
    private let sum: TypedOperation<OperationFunction.Numbers2>
    private let quotient: TypedOperation<OperationFunction.Numbers2>
    private let value: TypedOperation<OperationFunction.Texts1>

    /// Compares this client's signatures with those in the plugin's manifest.
    ///
    /// - Throws: `signature-mismatch` naming both, `invalid` if the plugin lacks one of the operations.
    public init(_ gate: GateClient) throws(ConnectorError) {
        sum = try gate.typed("add", "(a: f64, b: f64) -> f64", as: OperationFunction.Numbers2.self)
        quotient = try gate.typed("divide", "(a: f64, b: f64) -> f64", as: OperationFunction.Numbers2.self)
        value = try gate.typed("evaluate", "(expression: string) async -> json", as: OperationFunction.Texts1.self)
    }

    /// `a` + `b`
    public func add(_ a: Double, _ b: Double) async throws(ConnectorError) -> Double {
        try await sum(a, b)
    }

    /// `a` / `b`
    ///
    /// - Throws: `invalid` if `b` is zero.
    public func divide(_ a: Double, by b: Double) async throws(ConnectorError) -> Double {
        try await quotient(a, b)
    }

    /// The sum of many numbers, at the cost of one lease and a function call for each.
    public func total(_ numbers: [Double]) async throws(ConnectorError) -> Double {
        try await sum.withLease { add throws(ConnectorError) in
            var total = 0.0
            for number in numbers { total = try add(total, number) }
            return total
        }
    }

    /// The value of an expression such as `(1 + 2) * 3`.
    ///
    /// - Throws: `invalid` for anything but an expression, `misbehaved` if the plugin does not answer with a number.
    public func evaluate(_ expression: String) async throws(ConnectorError) -> Double {
        let answer = try await value(expression)
        guard let number = answer["value"]?.number else {
            throw ConnectorError(.misbehaved, "evaluate answered \(answer) instead of {\"value\": NUMBER}")
        }
        return number
    }
}
