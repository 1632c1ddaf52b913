// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// Everything that is measured, and where the programs are that it is compared with.
struct Suite {
    /// The folder that the Makefile built.
    let files: String
    /// The folder of the host's own programs.
    let programs: String
    /// How many rounds everything is measured for.
    let rounds: Int

    /// Measures several things alternately, so that whatever else the machine does disturbs all of them alike.
    ///
    /// - Parameters:
    ///   - rounds: How often; the first round only warms up.
    ///   - bodies: Each takes a sample of the host and of the reference, nil if there is none.
    func alternate(
        _ measurements: [Measurement],
        rounds: Int? = nil,
        _ sample: (Measurement) async throws -> (host: Double, reference: Double?)
    ) async throws -> [Measurement] {
        var measurements = measurements
        for round in 0...(rounds ?? self.rounds) {
            for index in measurements.indices {
                let (host, reference) = try await sample(measurements[index])
                guard round > 0 else { continue }
                measurements[index].host.add(host)
                if let reference { measurements[index].reference.add(reference) }
            }
        }
        return measurements
    }

    /// Measures everything.
    func run() async throws -> [Measurement] {
        try await run(parts.map(\.measure))
    }

    /// Everything that is measured, in order.
    var parts: [(name: String, measure: () async throws -> [Measurement])] {
        [
            ("opening", opening), ("slowGates", slowGates), ("processes", processes), ("calls", calls),
            ("requests", requests), ("enqueuing", enqueuing), ("relaying", relaying), ("besidePython", besidePython),
            ("delivering", delivering), ("backlogs", backlogs), ("publishing", publishing), ("draining", draining),
            ("console", console), ("consoles", consoles), ("frames", frames), ("otherLanguages", otherLanguages),
            ("allocations", allocations), ("metrics", metrics), ("reloading", reloading), ("swapping", swapping),
            ("isolating", isolating),
        ]
    }

    /// Measures some parts, printing each as soon as it is known.
    func run(_ parts: [() async throws -> [Measurement]]) async throws -> [Measurement] {
        Table.printHead()
        var all: [Measurement] = []
        for part in parts {
            let measurements = try await part()
            measurements.forEach(Table.printRow)
            all += measurements
        }
        return all
    }

    /// The document that other programs read.
    static func document(_ measurements: [Measurement]) -> JSONValue {
        ["version": 1, "measurements": .array(measurements.map(\.json))]
    }
}
