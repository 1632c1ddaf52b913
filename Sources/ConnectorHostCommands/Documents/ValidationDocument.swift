// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorSimulator

/// The result of validating the plugins of a configuration without faults.
struct ValidationDocument: Document {
    /// The checked file.
    var file: String
    /// The files that it includes, directly or indirectly, each with the number of its gates.
    var includedFiles: [(file: String, gateCount: Int)]
    /// The number of gates that the host would open.
    var gateCount: Int
    /// The number of gates that would fail.
    var failingCount = 0
    /// The number of other gates that would fail with `--simulate`, because their simulator or their file of answers has faults.
    var failingSimulatedCount = 0
    /// The problems that prevent gates from opening, ordered by path; those of a plugin are listed only for its first gate,
    /// and name the others.
    var problems: [ConnectorError] = []
    /// What is wrong although every gate would open.
    var warnings: [String] = []

    /// Checks the plugins of a valid configuration as the loader would.
    ///
    /// - Parameter isSimulated: Whether the gates would be simulated.
    init(resolved: ResolvedConfiguration, plugins: PluginLookup, isSimulated: Bool = false) {
        file = resolved.configuration.file
        let counts = resolved.configuration.enabledLeaves.reduce(into: [:]) {
            $0[$1.connector.location.text, default: 0] += 1
        }
        includedFiles = resolved.configuration.includedFiles.enumerated().map { ($1, counts[$0 + 1] ?? 0) }
        gateCount = resolved.leaves.count
        var reader = JSONReader(resolved.configuration.texts)
        var examined: [PluginSpecification: [ConnectorError]] = [:]
        // The places of a plugin's problems in the list, and the further gates that have them.
        var places: [PluginSpecification: Range<Int>] = [:]
        var others: [PluginSpecification: [String]] = [:]
        for (connector, leaf) in resolved.configuration.enabledLeaves.sorted(by: {
            $0.connector.path < $1.connector.path
        }) {
            let plan = resolved.leaves[connector.path]
            let gate = isSimulated ? plan.flatMap { try? $0.get() }.map { SimulatedGate($0, plugins) } : nil
            let answers = Self.faults(of: gate, or: connector, plugins.interface(leaf.plugin), resolved.configuration)
            problems += answers
            // A simulated interface needs no image.
            if case .interface? = gate?.substitute { continue }
            // Neither does a leaf whose answers have faults.
            if case .nothing? = gate?.substitute, case .failure(let error) = plugins.candidate(leaf.plugin),
                error.code == .notFound
            {
                failingCount += 1
                continue
            }
            let known = examined[leaf.plugin]
            let found = known ?? Self.problems(of: leaf.plugin, plan, plugins)
            examined[leaf.plugin] = found
            var isFailing = !found.isEmpty || (isSimulated && !answers.isEmpty)
            // The plugin would load, but the connectors that it uses are not bound.
            if found.isEmpty, case .failure(let error)? = plan {
                isFailing = true
                problems.append(error)
            }
            if isFailing { failingCount += 1 } else if !answers.isEmpty { failingSimulatedCount += 1 }
            guard known == nil else {
                others[leaf.plugin, default: []].append(connector.path)
                continue
            }
            let first = problems.count
            for error in found { problems.append(reader.located(error, atPluginOf: connector)) }
            places[leaf.plugin] = first..<problems.count
        }
        for (plugin, paths) in others {
            for index in places[plugin] ?? 0..<0 { problems[index].message += " (also for \(paths.listed))" }
        }
    }

    /// The faults of a leaf's simulator or answers.
    ///
    /// - Parameter gate: The simulated leaf; nil if the leaf is not simulated and only its file of answers is checked.
    private static func faults(
        of gate: SimulatedGate?,
        or connector: Connector,
        _ manifest: Result<Manifest, ConnectorError>,
        _ configuration: Configuration
    ) -> [ConnectorError] {
        var faults: [ConnectorError] = []
        if let gate {
            if case .nothing(let errors) = gate.substitute { faults = errors }
        } else if let world = connector.simulator.flatMap(SimulatedWorld.read) {
            switch world {
            case .failure(let found): faults = found.errors
            case .success(let world): faults = (try? manifest.get()).map(world.faults(with:)) ?? []
            }
        }
        return faults.map { error in
            var error = error
            error.connector = connector.path
            if error.position == nil {
                let place = connector.location
                var reader = JSONReader(configuration.texts)
                error.position =
                    connector.simulator == nil
                    ? reader.position(of: place) : reader.position(of: place.appending("simulate"))
            }
            return error
        }
    }

    /// The problems that prevent a plugin from loading.
    private static func problems(
        of plugin: PluginSpecification,
        _ plan: Result<ResolvedLeaf, ConnectorError>?,
        _ plugins: PluginLookup
    ) -> [ConnectorError] {
        switch plugins.candidate(plugin) {
        case .success(let candidate):
            let problems = PluginInspection(path: candidate.sidecar ?? candidate.path).problems
            return problems.isEmpty ? [plugins.admission.problem(of: candidate)].compactMap(\.self) : problems
        case .failure(let error):
            let planned = if case .failure(let planned)? = plan { planned } else { error }
            let path = plugin.isPath ? plugin.name : plugins.everything.entries.first { $0.id == plugin.name }?.path
            let found = path.map { PluginInspection(path: $0).problems } ?? []
            // The inspection may find no problem even though no plugin could be chosen.
            return found.contains { $0.code == planned.code } ? found : [planned]
        }
    }

    func lines(_ style: TextStyle) -> [String] {
        var lines = problems.prefix(JSONReader.problemLimit).flatMap { ErrorLines(error: $0).lines(style) }
        if omitted > 0 { lines.append("and \(omitted) more") }
        lines += warnings.map { style.paint("warning: ", .warning) + style.shown($0) }
        let failing = [
            failingCount == 0 ? nil : "\(failingCount) would fail",
            failingSimulatedCount == 0 ? nil : "\(failingSimulatedCount) would fail with --simulate",
        ].compactMap(\.self)
        let counts = Self.gates(gateCount) + (failing.isEmpty ? "" : ", of which \(failing.joined(separator: " and "))")
        let mark: TextStyle.Mark = problems.isEmpty ? .good : .bad
        let sign = style.paint(style.sign(mark), style.colour(mark))
        lines.append(
            "\(sign) \(style.shown(file)) is \(problems.isEmpty ? "valid" : "well formed"): \(counts)"
        )
        return lines + includedFiles.map { "    includes \(style.shown($0.file)): \(Self.gates($0.gateCount))" }
    }

    private static func gates(_ count: Int) -> String { count == 1 ? "1 gate" : "\(count) gates" }

    /// The number of problems omitted from the output.
    private var omitted: Int { max(0, problems.count - JSONReader.problemLimit) }

    var json: JSONValue {
        var object: JSONObject = [
            "version": 1, "valid": .bool(problems.isEmpty), "gates": .integer(Int64(gateCount)),
            "failing": .integer(Int64(failingCount)),
            "errors": .array(problems.prefix(JSONReader.problemLimit).map(\.json)),
            "warnings": .array(warnings.map(JSONValue.string)),
        ]
        if omitted > 0 { object["omitted"] = .integer(Int64(omitted)) }
        object["file"] = .string(file)
        object["includes"] = .array(
            includedFiles.map { ["file": .string($0.file), "gates": .integer(Int64($0.gateCount))] }
        )
        return .object(object)
    }
}
