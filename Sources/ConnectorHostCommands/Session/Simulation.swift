// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorSimulator
internal import Synchronization

/// The simulated vendors of a configuration: simulators in this process, on a free port of the loopback interface, and the
/// servers on this machine that connectors name.
///
/// A reload may bring further vendors and other credentials: what a leaf needs is served once the leaf is read.
final class Simulation: Sendable {
    private let simulator: Simulator
    /// The port of the simulators, which also accepts faults.
    let port: Int
    private let serving: Task<Void, any Error>
    private let clock: any HostClock
    private let state = Mutex(State())

    private struct State {
        var gates: [String: Gate] = [:]
        /// What happens without a call at each gate that has a timeline.
        var happenings: [Happening] = []
        /// How many recordings are served.
        var recordings = 0
    }

    /// What takes the place of one leaf's vendor or plugin, for as long as the leaf has this plugin and these answers.
    private struct Gate {
        var plugin: String
        var reference: SimulatorReference?
        var target: SimulationTarget
        /// The vendor in the catalogue that is simulated; nil for anything else.
        var vendor: String?
    }

    /// What happens without a call at one gate.
    private struct Happening {
        var path: String
        var world: SimulatedWorld
        /// The simulated interface; nil if the plugin runs.
        var operations: SimulatedOperations?
        /// The name under which the simulators serve its vendor; nil if they do not.
        var vendor: String?
    }

    /// Starts the server, which serves nothing yet.
    ///
    /// - Parameter clock: The host's clock, which delays and timelines follow.
    /// - Throws: The system's error if the server cannot listen.
    init(clock: any HostClock) async throws {
        self.clock = clock
        var options = SimulatorOptions()
        options.vendors = []
        options.isPrefixed = true
        options.clock = HostTime(clock)
        options.now = { clock.wallTime() }
        let simulator = try Simulator(options)
        self.simulator = simulator
        serving = Task { try await simulator.run() }
        port = try await simulator.port
    }

    /// The vendors that are simulated, in the order of the catalogue, and then the recordings.
    var vendors: [String] {
        let served = simulator.vendors
        return VendorCatalogue.names.filter(served.contains) + served.filter { !VendorCatalogue.names.contains($0) }
    }

    /// The same connectors, with simulators in place of the vendors, which accept the credentials of the configuration.
    func pointing(_ resolved: ResolvedConfiguration, _ plugins: PluginLookup) -> ResolvedConfiguration {
        resolved.pointing { [self] path, plan in target(of: plan, at: path, plugins) }
    }

    /// What takes the place of a leaf's vendor or plugin: what did before, if the leaf has the same plugin and answers.
    private func target(of plan: LeafPlan, at path: String, _ plugins: PluginLookup) -> SimulationTarget {
        state.withLock { state in
            let id = plan.manifest.id
            if let gate = state.gates[path], gate.plugin == id, gate.reference == plan.simulator {
                if let vendor = gate.vendor { try? simulator.serve(vendor, accepting: plan.texts) }
                return gate.target
            }
            let gate = SimulatedGate(plan, plugins)
            var new = Gate(plugin: id, reference: plan.simulator, target: .local)
            var happening = gate.world.map { Happening(path: path, world: $0) }
            switch gate.substitute {
            case .interface:
                happening?.operations = gate.world.map { SimulatedOperations($0, clock: clock) }
                if let operations = happening?.operations { new.target = gate.interface(operations, plugins) }
            case .server(let url): new.target = .server(url)
            case .local: break
            case .answers(let answers):
                let name = "recorded-\(state.recordings)"
                state.recordings += 1
                simulator.serve(answers, as: name, hiding: plan.texts)
                new.target = server(name, gate.world?.time)
                happening?.vendor = name
            case .vendor(let name):
                try? simulator.serve(name, accepting: plan.texts)
                new.target = server(name)
                new.vendor = name
                happening?.vendor = name
            case .nothing, .noPlugin: if let refusal = gate.refusal { new.target = .none(refusal) }
            }
            // A refusal is not kept: the plugin or the file may come.
            if case .none = new.target { return new.target }
            if let happening, happening.world.hasTimeline { state.happenings.append(happening) }
            state.gates[path] = new
            return new.target
        }
    }

    private func server(_ name: String, _ time: Timestamp? = nil) -> SimulationTarget {
        guard let base = URLParts("http://127.0.0.1:\(port)/\(name)") else {
            return .none(ConnectorError(.notSimulated, "not opened: \(name) has no URL"))
        }
        return .server(base, time: time)
    }

    /// The timelines of all gates that there are until now, not started.
    func timelines(of host: ConnectorHost) -> [SimulatedTimeline] {
        state.withLock(\.happenings).map { happening in
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
