// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorSimulator

/// What answers in place of the vendor while a plugin is checked.
enum ConformanceVendor: Sendable {
    /// A server on this machine, the configuration that it accepts, and the time of day of a recording that it replays, if any.
    case server(URLParts, config: JSONObject, time: Timestamp?)
    /// Whatever the given configuration names, which may be nothing.
    case configured

    /// Starts the stand-in for a plugin's vendor: the answers of the options, or a simulator that comes with the host.
    ///
    /// - Throws: `RuleStop.unchecked` if the answers have faults; an error of the configuration or of the simulator.
    static func start(for manifest: Manifest, _ run: RuleRun) async throws -> ConformanceVendor {
        var options = SimulatorOptions()
        options.vendors = []
        let name: String
        var time: Timestamp?
        if let answers = run.options.answers {
            name = Simulator.answersVendor
            let world: SimulatedWorld
            do throws(SimulatedWorld.Faults) {
                world = try SimulatedWorld(parsing: answers.utf8(), file: "answers")
            } catch {
                throw RuleStop.unchecked(
                    "the answers have faults: \(error.errors.map(\.description).joined(separator: "; "))"
                )
            }
            guard let recorded = world.answers else {
                throw RuleStop.unchecked("the answers have no \"answers\" to HTTP requests")
            }
            options.recorded = [(name, recorded)]
            time = world.time
            let made = try ConformanceConfiguration.all(run.options, manifest: manifest).first
            // What differs from the recording is to be read: only secrets are hidden.
            options.credentials[name] = made.map { [$0.secretTexts] }
        } else if run.options.config.isEmpty, VendorCatalogue.names.contains(manifest.id) {
            name = manifest.id
            options.vendors = [name]
        } else {
            return .configured
        }
        let simulator = try Simulator(options)
        let serving = Task { try await simulator.run() }
        run.atEnd {
            simulator.stop()
            serving.cancel()
            _ = await serving.result
        }
        guard let base = try await URLParts(simulator.baseURL(of: name)) else { return .configured }
        var config = JSONObject()
        if run.options.answers == nil {
            for (field, value) in try await simulator.configuration(of: name)
            where manifest.configuration.contains(where: { $0.name == field }) {
                config[field] = .string(value)
            }
        }
        return .server(base, config: config, time: time)
    }
}
