// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorSimulator

/// The verdict on a configuration that has no faults itself.
struct ValidationDocument: Document {
    /// The file checked.
    var file: String
    /// The files that it includes, directly or not, each with the number of its gates.
    var includedFiles: [(file: String, gateCount: Int)]
    /// How many gates the host would open.
    var gateCount: Int
    /// How many of them would fail.
    var failingCount = 0
    /// Why plugins would not load, in the order of the gates' paths, each plugin at its first gate only.
    var problems: [ConnectorError] = []

    /// Examines the plugins of a valid configuration as the loader would.
    init(resolved: ResolvedConfiguration, plugins: PluginLookup) {
        file = resolved.configuration.file
        let counts = resolved.configuration.enabledLeaves.reduce(into: [:]) {
            $0[$1.connector.location.text, default: 0] += 1
        }
        includedFiles = resolved.configuration.includedFiles.enumerated().map { ($1, counts[$0 + 1] ?? 0) }
        gateCount = resolved.leaves.count
        var examined: [PluginSpecification: [ConnectorError]] = [:]
        for (connector, leaf) in resolved.configuration.enabledLeaves.sorted(by: {
            $0.connector.path < $1.connector.path
        }) {
            let known = examined[leaf.plugin]
            let found = known ?? Self.problems(of: leaf.plugin, resolved.leaves[connector.path], plugins)
            examined[leaf.plugin] = found
            if !found.isEmpty { failingCount += 1 }
            if let fault = Self.fault(inAnswersOf: connector, resolved.configuration) { problems.append(fault) }
            guard known == nil else { continue }
            problems += found.map { error in
                var error = error
                error.connector = connector.path
                return error
            }
        }
    }

    /// Why the recorded answers that would take a vendor's place in a simulation cannot be read; nil if they can.
    private static func fault(inAnswersOf connector: Connector, _ configuration: Configuration) -> ConnectorError? {
        guard case .answers(let file)? = connector.simulator else { return nil }
        do throws(ConnectorError) {
            _ = try RecordedAnswers(parsing: try SimulatorReference.text(of: file), file: file)
            return nil
        } catch {
            var error = error
            error.connector = connector.path
            if error.position == nil {
                var reader = JSONReader(configuration.texts)
                error.position = reader.position(of: connector.location.appending("simulate"))
            }
            return error
        }
    }

    /// Everything that would stop a plugin from loading.
    private static func problems(
        of plugin: PluginSpecification,
        _ plan: Result<LeafPlan, ConnectorError>?,
        _ plugins: PluginLookup
    ) -> [ConnectorError] {
        switch plugins.candidate(plugin) {
        case .success(let candidate): return PluginInspection(path: candidate.sidecar ?? candidate.path).problems
        case .failure(let error):
            let planned = if case .failure(let planned)? = plan { planned } else { error }
            let path = plugin.isPath ? plugin.name : plugins.everything.entries.first { $0.id == plugin.name }?.path
            let found = path.map { PluginInspection(path: $0).problems } ?? []
            // The inspection may be content where the choice between plugins is not.
            return found.contains { $0.code == planned.code } ? found : [planned]
        }
    }

    func lines(_ style: TextStyle) -> [String] {
        var lines = problems.prefix(JSONReader.problemLimit).flatMap { ErrorLines(error: $0).lines(style) }
        if omitted > 0 { lines.append("and \(omitted) more") }
        let verdict = failingCount == 0 ? "" : ", of which \(failingCount) would fail"
        let mark: TextStyle.Mark = problems.isEmpty ? .good : .bad
        let sign = style.paint(style.sign(mark), style.colour(mark))
        lines.append(
            "\(sign) \(style.shown(file)) is \(problems.isEmpty ? "valid" : "well formed"): \(Self.gates(gateCount))\(verdict)"
        )
        return lines + includedFiles.map { "    includes \(style.shown($0.file)): \(Self.gates($0.gateCount))" }
    }

    private static func gates(_ count: Int) -> String { count == 1 ? "1 gate" : "\(count) gates" }

    /// How many problems the answer leaves out.
    private var omitted: Int { max(0, problems.count - JSONReader.problemLimit) }

    var json: JSONValue {
        var object: JSONObject = [
            "version": 1, "valid": .bool(problems.isEmpty), "gates": .integer(Int64(gateCount)),
            "failing": .integer(Int64(failingCount)),
            "errors": .array(problems.prefix(JSONReader.problemLimit).map(\.json)), "warnings": [],
        ]
        if omitted > 0 { object["omitted"] = .integer(Int64(omitted)) }
        object["file"] = .string(file)
        object["includes"] = .array(
            includedFiles.map { ["file": .string($0.file), "gates": .integer(Int64($0.gateCount))] }
        )
        return .object(object)
    }
}
