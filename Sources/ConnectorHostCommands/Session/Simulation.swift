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
    /// The vendors that are simulated.
    var vendors: [String] { simulator.vendors }
    private let serving: Task<Void, any Error>
    /// The simulator of each leaf that there was at the start, by path.
    private let targets: [String: SimulationTarget]
    /// The plugin of each of those leaves.
    private let plugins: [String: String]
    /// The simulator of each vendor in the catalogue that is simulated, by the plugin's id.
    private let servers: [String: SimulationTarget]

    /// What happens by itself at each gate that has a timeline.
    private let worlds: [(path: String, world: SimulatedWorld, operations: SimulatedOperations?, vendor: String?)]
    private let clock: any HostClock

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
        var worlds: [(path: String, world: SimulatedWorld, operations: SimulatedOperations?, vendor: String?)] = []
        for (path, plan) in plans.sorted(by: { $0.key < $1.key }) {
            var file: (path: String, world: SimulatedWorld)?
            if case .answers(let name)? = plan.simulator {
                switch SimulatedWorld.read(name) {
                case .success(let world): file = (name, world)
                case .failure(let faults):
                    targets[path] = .none(faults.errors[0])
                    continue
                }
            }
            var missing: ConnectorError?
            if case .failure(let error) = plugins.candidate(plan.specification) { missing = error }
            var operations: SimulatedOperations?
            if let (name, world) = file, world.hasOperations, missing != nil || world.answers == nil {
                let simulated = SimulatedOperations(world, clock: clock)
                operations = simulated
                targets[path] = interface(of: plan, simulated, world, name, plugins)
            } else if let missing {
                targets[path] = .none(missing)
            } else if case .server(let url)? = plan.simulator {
                targets[path] = .server(url)
            } else if plan.simulator == .local {
                targets[path] = .local
            } else if let answers = file?.world.answers {
                let name = "recorded:\(options.recorded.count)"
                options.recorded.append((name, answers))
                options.credentials[name] = [plan.texts]
                served[path] = name
            } else if VendorCatalogue.names.contains(plan.manifest.id) {
                served[path] = plan.manifest.id
            } else {
                targets[path] = plan.makesNoRequests ? .local : .none(notSimulated(plan))
            }
            if let world = file?.world, world.hasTimeline { worlds.append((path, world, operations, served[path])) }
        }
        options.vendors = VendorCatalogue.names.filter(Set(served.values).contains)
        let simulator = try Simulator(options)
        let serving = Task { try await simulator.run() }
        for (path, name) in served {
            let base = URLParts(try await simulator.baseURL(of: name))
            targets[path] = base.map { .server($0) }
        }
        let port = try await simulator.port
        return Simulation(
            simulator: simulator,
            port: port,
            serving: serving,
            targets: targets,
            plugins: plans.mapValues(\.manifest.id),
            servers: Dictionary(served.map { ($1, targets[$0] ?? .local) }) { first, _ in first },
            worlds: worlds,
            clock: clock
        )
    }

    /// A plugin that consists of a leaf's manifest and the answers of a file.
    private static func interface(
        of plan: LeafPlan,
        _ operations: SimulatedOperations,
        _ world: SimulatedWorld,
        _ file: String,
        _ plugins: PluginLookup
    ) -> SimulationTarget {
        do throws(ConnectorError) {
            if let fault = world.faults(with: plan.manifest).first { throw fault }
            guard let manifest = plugins.interfaceText(plan.specification) else {
                throw ConnectorError(.invalidManifest, "the manifest of \(plan.manifest.id) cannot be read")
            }
            let standIn = operations.standIn(source: file.lastPathComponent)
            return .plugin(try LinkedPlugin(manifest: manifest.text, file: manifest.file, standIn: standIn))
        } catch {
            return .none(error)
        }
    }

    /// The timelines of all gates, not started.
    func timelines(of host: ConnectorHost) -> [SimulatedTimeline] {
        worlds.map { path, world, operations, vendor in
            SimulatedTimeline(
                world,
                clock: clock,
                operations: operations,
                vendor: vendor.map { (simulator, $0) },
                emit: { [weak host] name, payload in host?.emit(name, payload, from: path) }
            )
        }
    }

    /// The error of a gate that would contact a real vendor.
    private static func notSimulated(_ plan: LeafPlan) -> ConnectorError {
        ConnectorError(
            .notSimulated,
            "not opened: there is no simulator for the plugin \(plan.manifest.id), which would contact its real vendor",
            fix: "add \"simulate\" to the connector: a URL such as \"http://127.0.0.1:8080\", a file of answers, "
                + "or \"local\" if the plugin makes no requests"
        )
    }

    /// The same connectors, with simulators in place of the vendors.
    func pointing(_ resolved: ResolvedConfiguration) -> ResolvedConfiguration {
        resolved.pointing { path, plan in
            // A reload may have brought another plugin.
            let id = plan.manifest.id
            if plugins[path] == id, let target = targets[path] { return target }
            if let server = servers[id] { return server }
            return plan.makesNoRequests ? .local : .none(Self.notSimulated(plan))
        }
    }

    /// Stops the server, even with requests in progress.
    func stop() async {
        simulator.stop()
        serving.cancel()
        _ = await serving.result
    }
}

extension SimulatedWorld {
    /// Reads the file that a connector names.
    static func read(_ file: String) -> Result<SimulatedWorld, Faults> {
        let text: [UInt8]
        do throws(ConnectorError) {
            text = try SimulatorReference.text(of: file)
        } catch {
            return .failure(Faults(errors: [error]))
        }
        return Result { () throws(Faults) in try SimulatedWorld(parsing: text, file: file) }
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
