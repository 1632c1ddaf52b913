// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorSimulator

/// The simulated vendors of a configuration: simulators in this process, on a free port of the loopback interface, and the
/// servers on this machine that connectors name.
struct Simulation: Sendable {
    private let simulator: Simulator
    /// The port of the simulators, which also accepts faults.
    let port: Int
    private let serving: Task<Void, any Error>
    /// The simulator of each leaf that there was at the start, by path.
    private let targets: [String: SimulationTarget]
    /// The plugin of each of those leaves.
    private let plugins: [String: String]
    /// The simulator of each vendor in the catalogue that is simulated, by the plugin's id.
    private let servers: [String: SimulationTarget]

    /// What happens by itself at each gate that has a timeline.
    private let happenings: [Happening]
    private let clock: any HostClock

    /// The vendors that are simulated.
    var vendors: [String] { simulator.vendors }

    /// What happens by itself at one gate.
    private struct Happening {
        var path: String
        var world: SimulatedWorld
        /// The simulated interface; nil if the plugin runs.
        var operations: SimulatedOperations?
        /// The name under which the simulators serve its vendor; nil if they do not.
        var vendor: String?
    }

    /// Starts the simulators, which accept the configuration's credentials.
    ///
    /// - Parameter clock: The host's clock, which delays and timelines follow.
    static func start(
        for resolved: ResolvedConfiguration,
        _ plugins: PluginLookup,
        clock: any HostClock
    ) async throws -> Simulation {
        let plans = resolved.leaves.compactMapValues { try? $0.get() }
        var options = SimulatorOptions()
        options.isPrefixed = true
        options.clock = HostTime(clock)
        options.now = { clock.wallTime() }
        options.credentials = Dictionary(grouping: plans.values, by: \.manifest.id).mapValues { $0.map(\.texts) }
        var targets: [String: SimulationTarget] = [:]
        var served: [String: String] = [:]
        var times: [String: Timestamp] = [:]
        var happenings: [Happening] = []
        for (path, plan) in plans.sorted(by: { $0.key < $1.key }) {
            let gate = SimulatedGate(plan, plugins)
            var operations: SimulatedOperations?
            switch gate.substitute {
            case .interface:
                operations = gate.world.map { SimulatedOperations($0, clock: clock) }
                targets[path] = operations.map { gate.interface($0, plugins) }
            case .server(let url): targets[path] = .server(url)
            case .local: targets[path] = .local
            case .answers(let answers):
                let name = "recorded-\(options.recorded.count)"
                options.recorded.append((name, answers))
                options.credentials[name] = [plan.texts]
                served[path] = name
                times[path] = gate.world?.time
            case .vendor(let name): served[path] = name
            case .nothing, .noPlugin: targets[path] = gate.refusal.map { .none($0) }
            }
            if let world = gate.world, world.hasTimeline {
                happenings.append(
                    Happening(path: path, world: world, operations: operations, vendor: served[path])
                )
            }
        }
        options.vendors = VendorCatalogue.names.filter(Set(served.values).contains)
        let simulator = try Simulator(options)
        let serving = Task { try await simulator.run() }
        for (path, name) in served {
            let base = try await URLParts(simulator.baseURL(of: name))
            targets[path] = base.map { .server($0, time: times[path]) }
        }
        let port = try await simulator.port
        return Simulation(
            simulator: simulator,
            port: port,
            serving: serving,
            targets: targets,
            plugins: plans.mapValues(\.manifest.id),
            servers: Dictionary(served.map { ($1, targets[$0] ?? .local) }) { first, _ in first },
            happenings: happenings,
            clock: clock
        )
    }

    /// The timelines of all gates, not started.
    func timelines(of host: ConnectorHost) -> [SimulatedTimeline] {
        happenings.map { happening in
            SimulatedTimeline(
                happening.world,
                clock: clock,
                operations: happening.operations,
                vendor: happening.vendor.map { (simulator, $0) },
                lost: { [weak host, path = happening.path] in host?.lost($0, from: path) },
                emit: { [weak host, path = happening.path] name, payload in host?.emit(name, payload, from: path) }
            )
        }
    }

    /// The same connectors, with simulators in place of the vendors.
    func pointing(_ resolved: ResolvedConfiguration) -> ResolvedConfiguration {
        resolved.pointing { path, plan in
            // A reload may have brought another plugin.
            let id = plan.manifest.id
            if plugins[path] == id, let target = targets[path] { return target }
            if let server = servers[id] { return server }
            if plan.makesNoRequests { return .local }
            return .none(ConnectorError(.notSimulated, "not opened: nothing simulates the plugin \(id)"))
        }
    }

    /// Stops the server, even with requests in progress.
    func stop() async {
        simulator.stop()
        serving.cancel()
        _ = await serving.result
    }
}

extension SimulatedGate {
    /// A plugin that consists of the leaf's manifest and the answers of the file.
    fileprivate func interface(_ operations: SimulatedOperations, _ plugins: PluginLookup) -> SimulationTarget {
        do throws(ConnectorError) {
            guard let manifest = plugins.interfaceText(plan.specification) else {
                throw ConnectorError(.invalidManifest, "the manifest of \(plan.manifest.id) cannot be read")
            }
            let standIn = operations.standIn(source: file?.lastPathComponent ?? "a file")
            return .plugin(try LinkedPlugin(manifest: manifest.text, file: manifest.file, standIn: standIn))
        } catch {
            return .none(error)
        }
    }
}

extension LeafPlan {
    /// The string values of the configuration, including secrets, by field.
    fileprivate var texts: [String: String] {
        var texts: [String: String] = [:]
        for member in config.members {
            texts[member.name] = member.value.string ?? member.value.bool.map { "\($0)" }
        }
        for (name, secret) in secrets { texts[name] = secret.reveal() }
        return texts
    }
}
