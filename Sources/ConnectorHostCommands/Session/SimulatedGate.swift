// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorSimulator

/// What takes the place of one leaf's vendor or plugin under `--simulate`, before anything is served.
struct SimulatedGate: Sendable {
    /// What takes the place.
    enum Substitute: Sendable {
        /// The answers of the file, in place of the whole plugin.
        case interface
        /// A server on this machine.
        case server(URLParts)
        /// Nothing: the plugin makes no requests.
        case local
        /// A simulator with the answers of the file.
        case answers(RecordedAnswers)
        /// A simulator that comes with the host, by the vendor's name.
        case vendor(String)
        /// The gate does not open, for these reasons; at least one.
        case nothing([ConnectorError])
        /// The gate does not open, because its plugin cannot be used.
        case noPlugin(ConnectorError)
    }

    /// The leaf.
    let plan: LeafPlan
    /// The file that contains the answers, as given.
    let file: String?
    /// What the answers are; nil without any, or if they have faults.
    let world: SimulatedWorld?
    /// What takes the place of the vendor or the plugin.
    let substitute: Substitute

    /// Decides what takes the place of a leaf.
    init(_ plan: LeafPlan, _ plugins: PluginLookup) {
        self.plan = plan
        file = plan.simulator?.answersFile
        switch plan.simulator.flatMap(SimulatedWorld.read) {
        case nil:
            world = nil
            substitute = Self.substitute(for: plan, nil, plugins)
        case .success(let world)?:
            let faults = world.faults(with: plan.manifest)
            self.world = faults.isEmpty ? world : nil
            substitute = faults.isEmpty ? Self.substitute(for: plan, world, plugins) : .nothing(faults)
        case .failure(let faults)?:
            world = nil
            substitute = .nothing(faults.errors)
        }
    }

    private static func substitute(
        for plan: LeafPlan,
        _ world: SimulatedWorld?,
        _ plugins: PluginLookup
    ) -> Substitute {
        let candidate = plugins.candidate(plan.specification)
        if let world, world.hasOperations, world.answers == nil { return .interface }
        if case .failure(let error) = candidate { return world?.hasOperations == true ? .interface : .noPlugin(error) }
        switch plan.simulator {
        case .server(let url)?: return .server(url)
        case .local?: return .local
        case .answers?, .answersInPlace?, nil: break
        }
        if let answers = world?.answers { return .answers(answers) }
        if VendorCatalogue.names.contains(plan.manifest.id) { return .vendor(plan.manifest.id) }
        return plan.makesNoRequests ? .local : .nothing([notSimulated(plan)])
    }

    /// The error of a gate that would contact a real vendor.
    private static func notSimulated(_ plan: LeafPlan) -> ConnectorError {
        ConnectorError(
            .notSimulated,
            "not opened: there is no simulator for the plugin \(plan.manifest.id), which would contact its real vendor",
            fix: "add \"simulate\" to the connector: a URL such as \"http://127.0.0.1:8080\", answers, "
                + "or \"local\" if the plugin makes no requests"
        )
    }

    /// The reason that the gate does not open: the first, and how many others there are.
    var refusal: ConnectorError? {
        if case .noPlugin(let error) = substitute { return error }
        guard case .nothing(let errors) = substitute, var error = errors.first else { return nil }
        if errors.count > 1 {
            let rest = "\(errors.count - 1) more fault\(errors.count == 2 ? "" : "s") in the file"
            error.fix = (error.fix.map { "\($0); " } ?? "") + "\(rest): run connector-host validate"
        }
        return error
    }
}

extension SimulatorReference {
    /// The file that contains the answers; nil without answers.
    fileprivate var answersFile: String? {
        switch self {
        case .answers(let file): file
        case .answersInPlace(let answers): answers.text.file
        case .server, .local: nil
        }
    }
}

extension SimulatedWorld {
    /// Reads the answers that a connector names or has; nil if it has none.
    static func read(_ reference: SimulatorReference) -> Result<SimulatedWorld, Faults>? {
        switch reference {
        case .server, .local: nil
        case .answers(let file): Result { () throws(Faults) in try SimulatedWorld(reading: file) }
        case .answersInPlace(let answers):
            Result { () throws(Faults) in try SimulatedWorld(answers.value, at: answers.place, in: answers.text) }
        }
    }

    private init(reading file: String) throws(Faults) {
        let text: [UInt8]
        do throws(ConnectorError) {
            text = try SimulatorReference.text(of: file)
        } catch {
            throw Faults(errors: [error])
        }
        try self.init(parsing: text, file: file)
    }
}
