// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorSimulator
internal import Logging

/// Simulators of a configuration's vendors, in this process, on a free port of the loopback interface.
struct Simulation: Sendable {
    private let simulator: Simulator
    private let serving: Task<Void, any Error>
    /// The URL that replaces the vendor, by plugin.
    private let bases: [String: URLParts]

    /// Starts the simulators, which accept the configuration's credentials.
    ///
    /// Logs the connectors that have no simulator and keep their configured server.
    static func start(for resolved: ResolvedConfiguration, logger: Logger) async throws -> Simulation {
        var options = SimulatorOptions()
        let used = Set(resolved.plans.map(\.manifest.id))
        options.vendors = VendorCatalogue.names.filter(used.contains)
        options.isPrefixed = true
        options.credentials = resolved.credentials
        let simulator = try Simulator(options)
        let serving = Task { try await simulator.run() }
        var bases: [String: URLParts] = [:]
        for vendor in simulator.vendors {
            bases[vendor] = URLParts(try await simulator.baseURL(of: vendor))
        }
        for (path, leaf) in resolved.leaves.sorted(by: { $0.key < $1.key }) {
            guard case .success(let plan) = leaf, bases[plan.manifest.id] == nil else { continue }
            logger.warning(
                "no simulator for this plugin, its gate opens as configured",
                metadata: ["connector": "\(path)", "plugin": "\(plan.manifest.id)"]
            )
        }
        return Simulation(simulator: simulator, serving: serving, bases: bases)
    }

    /// The same connectors, with simulators in place of the vendors.
    func pointing(_ resolved: ResolvedConfiguration) -> ResolvedConfiguration {
        resolved.pointing { bases[$0] }
    }

    /// Stops the server, even with requests in progress.
    func stop() async {
        simulator.stop()
        serving.cancel()
        _ = await serving.result
    }
}

extension ResolvedConfiguration {
    /// The leaves whose plugins can be used.
    fileprivate var plans: [LeafPlan] { leaves.values.compactMap { try? $0.get() } }

    /// The texts in every connector's configuration, secrets included, by plugin.
    fileprivate var credentials: [String: [[String: String]]] {
        plans.reduce(into: [:]) { credentials, plan in
            var texts: [String: String] = [:]
            for member in plan.config.members { texts[member.name] = member.value.string }
            for (name, secret) in plan.secrets { texts[name] = secret.reveal() }
            credentials[plan.manifest.id, default: []].append(texts)
        }
    }
}
