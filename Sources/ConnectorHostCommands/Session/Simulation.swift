// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
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
    /// The simulator of each leaf, by path.
    private let targets: [String: SimulationTarget]

    /// Starts the simulators, which accept the configuration's credentials.
    static func start(for resolved: ResolvedConfiguration) async throws -> Simulation {
        let plans = resolved.leaves.compactMapValues { try? $0.get() }
        var options = SimulatorOptions()
        let simulated = plans.values.filter { $0.simulator == nil }.map(\.manifest.id)
        options.vendors = VendorCatalogue.names.filter(simulated.contains)
        options.isPrefixed = true
        options.credentials = Dictionary(grouping: plans.values, by: \.manifest.id).mapValues { $0.map(\.texts) }
        var targets: [String: SimulationTarget] = [:]
        var served: [String: String] = [:]
        for (path, plan) in plans.sorted(by: { $0.key < $1.key }) {
            switch plan.simulator {
            case .server(let url): targets[path] = .server(url)
            case .local: targets[path] = .local
            case .answers(let file):
                switch RecordedAnswers.read(file) {
                case .success(let answers):
                    let name = "recorded:\(options.recorded.count)"
                    options.recorded.append((name, answers))
                    options.credentials[name] = [plan.texts]
                    served[path] = name
                case .failure(let faults): targets[path] = .none(faults.errors[0])
                }
            case nil where options.vendors.contains(plan.manifest.id): served[path] = plan.manifest.id
            case nil: targets[path] = plan.makesNoRequests ? .local : .none(notSimulated(plan))
            }
        }
        let simulator = try Simulator(options)
        let serving = Task { try await simulator.run() }
        for (path, name) in served {
            let base = URLParts(try await simulator.baseURL(of: name))
            targets[path] = base.map { .server($0) }
        }
        let port = try await simulator.port
        return Simulation(simulator: simulator, port: port, serving: serving, targets: targets)
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
        resolved.pointing { path, plan in targets[path] ?? .none(Self.notSimulated(plan)) }
    }

    /// Stops the server, even with requests in progress.
    func stop() async {
        simulator.stop()
        serving.cancel()
        _ = await serving.result
    }
}

extension RecordedAnswers {
    /// Reads the file that a connector names.
    static func read(_ file: String) -> Result<RecordedAnswers, Faults> {
        let text: [UInt8]
        do throws(ConnectorError) {
            text = try SimulatorReference.text(of: file)
        } catch {
            return .failure(Faults(errors: [error]))
        }
        return Result { () throws(Faults) in try RecordedAnswers(parsing: text, file: file) }
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
