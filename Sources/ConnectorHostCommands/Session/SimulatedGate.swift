// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorSimulator

/// The substitute for one leaf's vendor or plugin under `--simulate`, chosen before anything is served.
struct SimulatedGate: Sendable {
    /// A substitute for the vendor or the plugin.
    enum Substitute: Sendable {
        /// The answers in the file, in place of the whole plugin.
        case interface
        /// A server on this machine, by its URL.
        case server(URLParts)
        /// None is needed: the plugin makes no requests.
        case local
        /// A simulator with the answers in the file.
        case answers(RecordedAnswers)
        /// A simulator that comes with the host, by the vendor's name.
        case vendor(String)
        /// None: the gate does not open, for these reasons, at least one.
        case nothing([ConnectorError])
        /// None: the gate does not open, because its plugin cannot be used.
        case noPlugin(ConnectorError)
    }

    /// The leaf.
    let leaf: ResolvedLeaf
    /// The file that contains the answers, as given.
    let file: String?
    /// The answers; nil if there are none or they have faults.
    let world: SimulatedWorld?
    /// The substitute for the vendor or the plugin.
    let substitute: Substitute

    /// Chooses the substitute for a leaf's vendor or plugin.
    init(_ leaf: ResolvedLeaf, _ plugins: PluginLookup) {
        self.leaf = leaf
        file = leaf.simulator?.answersFile
        switch leaf.simulator.flatMap(SimulatedWorld.read) {
        case nil:
            world = nil
            substitute = Self.substitute(for: leaf, nil, plugins)
        case .success(let world)?:
            let faults = world.faults(with: leaf.manifest)
            self.world = faults.isEmpty ? world.labelled(by: leaf.manifest) : nil
            substitute = faults.isEmpty ? Self.substitute(for: leaf, world, plugins) : .nothing(faults)
        case .failure(let faults)?:
            world = nil
            substitute = .nothing(faults.errors)
        }
    }

    private static func substitute(
        for leaf: ResolvedLeaf,
        _ world: SimulatedWorld?,
        _ plugins: PluginLookup
    ) -> Substitute {
        let candidate = plugins.candidate(leaf.specification)
        if let world, world.hasOperations, world.answers == nil { return interface(of: leaf) }
        if case .failure(let error) = candidate {
            return world?.hasOperations == true ? interface(of: leaf) : .noPlugin(error)
        }
        switch leaf.simulator {
        case .server(let url)?: return .server(url)
        case .local?: return .local
        case .answers?, .inlineAnswers?, nil: break
        }
        if let answers = world?.answers { return .answers(answers) }
        if VendorCatalogue.names.contains(leaf.manifest.id) { return .vendor(leaf.manifest.id) }
        return leaf.makesNoRequests ? .local : .nothing([notSimulated(leaf)])
    }

    /// The answers in place of the whole plugin, unless its manifest has what they cannot stand in for.
    private static func interface(of leaf: ResolvedLeaf) -> Substitute {
        do throws(ConnectorError) {
            try LinkedPlugin.checkStandIn(for: leaf.manifest)
            return .interface
        } catch {
            return .nothing([error])
        }
    }

    /// The error of a gate that would contact a real vendor.
    private static func notSimulated(_ leaf: ResolvedLeaf) -> ConnectorError {
        ConnectorError(
            .notSimulated,
            "not opened: there is no simulator for the plugin \(leaf.manifest.id), which would contact its real vendor",
            fix: "add \"simulate\" to the connector: a URL such as \"http://127.0.0.1:8080\", answers, "
                + "or \"local\" if the plugin makes no requests"
        )
    }

    /// The error of a gate that does not open: the first reason, with the number of others; nil if it opens.
    var refusal: ConnectorError? {
        if case .noPlugin(let error) = substitute { return error }
        guard case .nothing(let errors) = substitute, var error = errors.first else { return nil }
        if errors.count > 1 {
            let rest = "\(errors.count - 1) more fault\(errors.count == 2 ? "" : "s") in the file"
            error.fix =
                (error.fix.map { "\($0); " } ?? "")
                + "\(rest): run connector-host validate --simulate, with the same --answers"
        }
        return error
    }
}

extension SimulatorReference {
    /// The file that contains the answers; nil without answers.
    fileprivate var answersFile: String? {
        switch self {
        case .answers(let file): file
        case .inlineAnswers(let answers): answers.text.file
        case .server, .local: nil
        }
    }

    /// The text of the file of answers; nil if there is none, or it cannot be read.
    var answersText: [UInt8]? {
        guard case .answers(let file) = self else { return nil }
        return try? Self.text(of: file)
    }
}

extension SimulatedWorld {
    /// Reads the answers in a file that a connector names, or in the connector itself; nil if it has none.
    static func read(_ reference: SimulatorReference) -> Result<SimulatedWorld, Faults>? {
        switch reference {
        case .server, .local: nil
        case .answers(let file): Result { () throws(Faults) in try SimulatedWorld(reading: file) }
        case .inlineAnswers(let answers):
            Result { () throws(Faults) in try SimulatedWorld(answers.value, at: answers.path, in: answers.text) }
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
