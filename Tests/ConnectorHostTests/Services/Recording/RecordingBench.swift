// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorSimulator
import Testing

@testable import ConnectorPlatform
@testable import ConnectorServices

/// A recording in a directory of its own, and what a test does with it.
final class RecordingBench: Sendable {
    /// Where the file is.
    let directory = ScratchDirectory()
    /// The key that the plugin of the recording has.
    static let key = "kT9/+w\"x%2Fq e7Zr&=pL"
    /// The host that records; its clock stands, so that nothing depends on the machine.
    let clock = ManualHostClock()

    /// The path of the file.
    var file: String { directory.path + "/vendor.json" }

    /// The text of the file; empty if there is none.
    var text: String {
        (try? SystemFile.bytes(of: file, limit: 8 << 20)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The answers of the file.
    var answers: [JSONValue] { (try? JSONValue(document: Array(text.utf8)))?["answers"]?.array ?? [] }

    /// A plugin that is recorded, on a host of its own.
    func plugin(_ time: Timestamp? = nil, key: String = RecordingBench.key) -> PluginSide {
        PluginSide(
            host: HostServices(options: .init(clock: clock, http: .patient)),
            secrets: ["key": key],
            recording: RecordingTarget(file, time: time)
        )
    }

    /// Replays the file to a plugin that has another key.
    func replay(_ body: (_ plugin: PluginSide, _ url: String) async throws -> Void) async throws {
        let world = try JSONValue(document: Array(text.utf8))
        let secrets = ["key": "another-key-entirely"]
        let answers = try #require(try SimulatedWorld(parsing: world.utf8(), file: "answers").answers)
        var options = SimulatorOptions()
        options.vendors = []
        options.recorded = [(Simulator.answersVendor, answers)]
        options.credentials = [Simulator.answersVendor: [secrets]]
        let simulator = try Simulator(options)
        let serving = Task { try await simulator.run() }
        defer { serving.cancel() }
        let plugin = PluginSide(
            secrets: secrets,
            vendor: SimulatedVendor(time: world["time"]?.string.flatMap(Timestamp.init(parsing:)))
        )
        try await body(plugin, try await simulator.baseURL(of: Simulator.answersVendor))
    }
}
