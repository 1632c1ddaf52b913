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
/// A reload may bring further vendors and other credentials, so a leaf's simulator is served once the leaf has been read. Its
/// timeline runs for as long as the host runs the leaf with these answers.
final class Simulation: ConfigurationSimulation {
    private let simulator: Simulator
    /// The port of the simulators, which also accepts faults to inject.
    let port: Int
    private let serving: Task<Void, any Error>
    private let clock: any HostClock
    private let state = Mutex(State())
    /// Held while timelines start and stop, so that a stopped one is not started again.
    private let timelineLock = Mutex(())

    private struct State {
        /// The substitutes for the leaves that were read last, by path.
        var gates: [String: Gate] = [:]
        /// The substitutes for the leaves that the host runs, by path. Their timelines run.
        var running: [String: Gate] = [:]
        /// The host whose gates are simulated; nil until ``Simulation/begin(on:)`` and after ``Simulation/endTimelines()``.
        weak var host: ConnectorHost?
        /// Follows the reloads of the host; nil until one has been read.
        var following: Task<Void, Never>?
        /// The number of recordings served so far.
        var recordings = 0
    }

    /// The substitute for one leaf's vendor or plugin, which is valid as long as the leaf has this plugin and these answers.
    private struct Gate {
        var plugin: String
        var reference: SimulatorReference?
        /// The text of the file of answers; nil if there is none.
        var text: [UInt8]?
        var target: SimulationTarget
        /// The name of the simulated vendor in the catalog; nil for any other substitute.
        var vendor: String?
        /// What happens at the gate without a call; nil for nothing.
        var timeline: SimulatedTimeline?

        /// Whether this is the substitute for a leaf, made for the vendor or the plugin itself.
        func serves(_ leaf: ResolvedLeaf) -> Bool {
            leaf.manifest.id == plugin && leaf.simulator == reference && leaf.simulator?.answersText == text
        }

        /// Whether a leaf was resolved with this substitute.
        func isInUse(by leaf: ResolvedLeaf?) -> Bool {
            guard let leaf else { return false }
            return leaf.manifest.id == plugin && leaf.simulator == reference && leaf.points(to: target)
        }
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
        let serving = Task { try await simulator.run() }
        self.serving = serving
        do {
            port = try await simulator.port
        } catch {
            // The server's own error may have a fix.
            serving.cancel()
            try await serving.value
            throw error
        }
    }

    /// The simulated vendors in the order of the catalog, followed by the recordings.
    var vendors: [String] {
        let served = simulator.vendors
        return VendorCatalogue.names.filter(served.contains) + served.filter { !VendorCatalogue.names.contains($0) }
    }

    /// The same connectors, with their vendors replaced by simulators that accept the credentials in the configuration.
    func pointing(_ resolved: ResolvedConfiguration, _ plugins: PluginLookup) -> ResolvedConfiguration {
        followReloads()
        if let host { follow(host) }
        let chosen = Mutex<[String: Gate]>([:])
        return resolved.pointing { [self] path, leaf in
            // A gate that reads its secrets again keeps its substitute, also if the answers have changed since.
            if let gate = chosen.withLock({ $0[path] }) {
                accept(leaf, at: gate)
                return gate.target
            }
            let gate = substitute(for: leaf, at: path, plugins)
            chosen.withLock { $0[path] = gate }
            return gate.target
        }
    }

    /// Makes the simulator of a vendor accept the credentials of a leaf.
    private func accept(_ leaf: ResolvedLeaf, at gate: Gate) {
        if let vendor = gate.vendor { try? simulator.serve(vendor, accepting: leaf.texts) }
    }

    /// The substitute for a leaf's vendor or plugin: one that exists, if the leaf still has the same plugin and answers.
    private func substitute(for leaf: ResolvedLeaf, at path: String, _ plugins: PluginLookup) -> Gate {
        state.withLock { state in
            // A configuration that is not in use may have replaced the substitute that runs.
            for case let gate? in [state.gates[path], state.running[path]] where gate.serves(leaf) {
                state.gates[path] = gate
                accept(leaf, at: gate)
                return gate
            }
            let text = leaf.simulator?.answersText
            let gate = SimulatedGate(leaf, plugins)
            var new = Gate(plugin: leaf.manifest.id, reference: leaf.simulator, text: text, target: .local)
            var (operations, server): (SimulatedOperations?, String?)
            switch gate.substitute {
            case .interface:
                operations = gate.world.map { SimulatedOperations($0, clock: clock) }
                if let operations { new.target = gate.interface(operations, plugins) }
            case .server(let url): new.target = .server(url)
            case .local: break
            case .answers(let answers):
                let name = "recorded-\(state.recordings)"
                state.recordings += 1
                simulator.serve(answers, as: name, hiding: leaf.secrets.mapValues { $0.reveal() })
                // A plugin with its own HTTP client names no vendor.
                let isNamed = leaf.manifest.requestsHTTP
                new.target = target(isNamed ? "" : name, name: isNamed ? name : nil, gate.world?.time)
                server = name
            case .vendor(let name):
                try? simulator.serve(name, accepting: leaf.texts)
                new.target = target(name, keepsPaths: false)
                (new.vendor, server) = (name, name)
            case .nothing, .noPlugin: if let refusal = gate.refusal { new.target = .none(refusal) }
            }
            // A refusal is not kept, because the missing plugin or file may appear.
            if case .none = new.target { return new }
            if let world = gate.world, world.hasTimeline {
                new.timeline = timeline(of: path, world, operations, server)
            }
            state.gates[path] = new
            return new
        }
    }

    /// The simulators' server, below a path.
    ///
    /// - Parameters:
    ///   - name: The recording that is asked, if its paths are the vendor's own.
    ///   - keepsPaths: Whether there is an answer for the paths of any gateway in the configuration, as in a recording.
    private func target(
        _ path: String,
        name: String? = nil,
        _ time: Timestamp? = nil,
        keepsPaths: Bool = true
    ) -> SimulationTarget {
        guard let base = URLParts("http://127.0.0.1:\(port)/\(path)") else {
            return .none(ConnectorError(.notSimulated, "not opened: \(path) has no URL"))
        }
        return .server(base, name: name, time: time, keepsPaths: keepsPaths)
    }

    // MARK: Timelines

    /// The timeline of a gate, not started.
    ///
    /// - Parameters:
    ///   - operations: The simulated interface; nil if the plugin runs.
    ///   - server: The name under which the simulators serve the vendor; nil if they do not.
    private func timeline(
        of path: String,
        _ world: SimulatedWorld,
        _ operations: SimulatedOperations?,
        _ server: String?
    ) -> SimulatedTimeline {
        SimulatedTimeline(
            world,
            clock: clock,
            operations: operations,
            vendor: server.map { (simulator, $0) },
            lost: { [weak self] in self?.host?.lost($0, from: path) },
            emit: { [weak self] name, payload in self?.host?.emit(name, payload, from: path) }
        )
    }

    private var host: ConnectorHost? { state.withLock(\.host) }

    /// Starts the timelines of the gates of a host. What is due at 0s, except events, has happened when this returns.
    func begin(on host: ConnectorHost) {
        state.withLock { $0.host = host }
        follow(host)
    }

    /// Follows the host from the first reload that is read.
    private func followReloads() {
        state.withLock { state in
            guard state.following == nil, let host = state.host else { return }
            state.following = Task { [weak self, weak host] in
                guard let reports = host?.reports else { return }
                for await _ in reports {
                    guard let self, let host else { return }
                    follow(host)
                }
            }
        }
    }

    /// Ends the timelines of gates that the host no longer runs, or runs with other answers, and starts those of gates that are new.
    private func follow(_ host: ConnectorHost) {
        timelineLock.withLock { _ in
            let leaves = host.resolved.leaves
            let (ended, begun) = state.withLock { state -> ([SimulatedTimeline], [SimulatedTimeline]) in
                guard state.host != nil else { return ([], []) }
                var (ended, begun): ([SimulatedTimeline], [SimulatedTimeline]) = ([], [])
                for path in Set(state.gates.keys).union(state.running.keys) {
                    let leaf = try? leaves[path]?.get()
                    let earlier = state.running[path]
                    // A configuration that is not in use may have replaced the substitute that runs.
                    let gate = [state.gates[path], earlier].compactMap(\.self).first { $0.isInUse(by: leaf) }
                    state.running[path] = gate
                    guard gate?.timeline !== earlier?.timeline else { continue }
                    ended += [earlier?.timeline].compactMap(\.self)
                    begun += [gate?.timeline].compactMap(\.self)
                }
                return (ended, begun)
            }
            // Outside the lock of the state, which an entry that is due now takes, too.
            for timeline in ended { timeline.stop() }
            for timeline in begun { timeline.start() }
        }
    }

    /// Ends every timeline.
    func endTimelines() async {
        let (following, running) = state.withLock { state in
            defer { (state.host, state.running, state.following) = (nil, [:], nil) }
            return (state.following, state.running)
        }
        following?.cancel()
        await following?.value
        timelineLock.withLock { _ in
            for gate in running.values { gate.timeline?.stop() }
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
            guard let manifest = plugins.interfaceText(leaf.specification) else {
                throw ConnectorError(.invalidManifest, "the manifest of \(leaf.manifest.id) cannot be read")
            }
            let standIn = operations.standIn(source: file?.lastPathComponent ?? "a file")
            return .plugin(try LinkedPlugin(manifest: manifest.text, file: manifest.file, standIn: standIn))
        } catch {
            return .none(error)
        }
    }
}

extension Manifest {
    /// Whether the plugin makes requests through `http/1`.
    fileprivate var requestsHTTP: Bool { (requiredServices + optionalServices).contains("http/1") }
}

extension ResolvedLeaf {
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
