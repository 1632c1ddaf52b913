// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost

/// A typed client of `calculator/1`, a capability known only to this application and its plugin.
struct Calculator {
    private let sum: TypedOperation<OperationFunction.Numbers2>
    private let quotient: TypedOperation<OperationFunction.Numbers2>

    /// Throws if the plugin declares different signatures.
    init(_ gate: GateClient) throws {
        sum = try gate.typed("add", "(a: f64, b: f64) -> f64", as: OperationFunction.Numbers2.self)
        quotient = try gate.typed("divide", "(a: f64, b: f64) -> f64", as: OperationFunction.Numbers2.self)
    }

    func add(_ a: Double, _ b: Double) async throws -> Double {
        try await sum(a, b)
    }

    func divide(_ a: Double, by b: Double) async throws -> Double {
        try await quotient(a, b)
    }
}
