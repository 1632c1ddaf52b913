// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorPlatform

extension Simulator {
    /// The name of the vendor whose answers are given as a value.
    public static let answersVendor = "answers"

    /// Prepares a vendor whose answers are given as a value, for tests: the `answers` and `timeline` of a file of answers.
    ///
    /// ```swift
    /// let simulator = try Simulator(answers: ["version": 1, "answers": [["path": "/v1/ping", "json": ["ok": true]]]])
    /// async let running: Void = simulator.run()
    /// let url = try await simulator.baseURL(of: Simulator.answersVendor)
    /// ```
    ///
    /// - Parameters:
    ///   - answers: The content of such a file.
    ///   - clock: The clock for delays and for the timeline, which begins with ``run()``.
    /// - Throws: `invalidAnswers` with every fault of the answers, or for what only a gate has: operations and events.
    public convenience init(
        answers: JSONValue,
        clock: any HostClock = SystemHostClock()
    ) throws(SimulatorError) {
        let world: SimulatedWorld
        do throws(SimulatedWorld.Faults) {
            world = try SimulatedWorld(parsing: answers.utf8(), file: "answers")
        } catch {
            throw .invalidAnswers(error.errors.map(\.description))
        }
        guard let recorded = world.answers, !world.hasOperations else {
            throw .invalidAnswers([
                "a simulator serves \"answers\"; \"operations\" take the place of a plugin: pass them to "
                    + "ConnectorHost.testing(simulating:)"
            ])
        }
        guard !world.timeline.contains(where: { $0.event != nil }) else {
            throw .invalidAnswers([
                "a simulator emits no events; an \"event\" of the \"timeline\" is one of a gate: pass it to "
                    + "ConnectorHost.testing(simulating:)"
            ])
        }
        var options = SimulatorOptions()
        options.vendors = []
        options.recorded = [(Self.answersVendor, recorded)]
        options.clock = HostTime(clock)
        options.now = { clock.wallTime() }
        try self.init(options, (world, clock))
    }
}
