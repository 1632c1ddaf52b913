// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost

/// A typed client of `calculator/1`, a capability that only this application and its plugin know.
struct Calculator {
    private let gate: GateClient

    init(_ gate: GateClient) {
        self.gate = gate
    }

    func add(_ a: Double, _ b: Double) async throws -> Double {
        try await number("add", a, b)
    }

    func divide(_ a: Double, by b: Double) async throws -> Double {
        try await number("divide", a, b)
    }

    private func number(_ operation: String, _ a: Double, _ b: Double) async throws -> Double {
        let answer = try await gate.call(operation, ["a": .number(a), "b": .number(b)])
        return answer.number ?? .nan
    }
}
