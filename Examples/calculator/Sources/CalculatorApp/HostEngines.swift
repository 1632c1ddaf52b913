// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CalculatorClient
public import CalculatorModel
import ConnectorHost

/// The engines behind the gates of a host: single plugins, and both at once.
struct HostEngines: ComputingFactory {
    private let host: ConnectorHost

    /// Offers every connector of the file that calculates.
    init(_ host: ConnectorHost) {
        self.host = host
    }

    /// The roots of the file, the one that `ENGINE` chooses first.
    var choices: [String] {
        host.configuration.connectors.map(\.path).filter { host.report[$0] != nil }
    }

    func info(of choice: String) -> [(title: String, text: String)] {
        guard let gate = host.report[choice] else { return [] }
        var info: [(title: String, text: String)] = [
            ("engine", gate.plugin?.description ?? "\(gate.policy ?? "") of C and Swift")
        ]
        info.append(("state", gate.state.rawValue))
        if let error = gate.error { info.append(("error", error.message)) }
        if let calls = gate.calls { info.append(("calls", "\(calls.total), \(calls.failures) failed")) }
        if let differences = gate.differences {
            info.append(("differences", "\(differences.different) of \(differences.compared) answers"))
            if let last = differences.last { info.append(("the last", last)) }
        }
        return info
    }

    func engine(_ choice: String) throws -> any Evaluating {
        let gate = try host.gate(choice)
        // Typed calls need a leaf; a composite passes described ones on by its policy.
        return host.report[choice]?.policy == nil ? try Calculator(gate) : CompositeEngine(gate: gate)
    }
}

extension Calculator: Evaluating {}

/// Several engines as one.
struct CompositeEngine: Evaluating {
    let gate: GateClient

    private struct Answer: Decodable {
        var value: Double
    }

    func evaluate(_ expression: String) async throws -> Double {
        try await gate.call("evaluate", ["expression": .string(expression)], as: Answer.self).value
    }
}
