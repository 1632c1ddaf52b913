// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest
internal import Synchronization

/// One check of one plugin: what it needs, and what it found.
final class RuleRun: Sendable {
    /// What is checked: a file, or a plugin that the process links.
    enum Subject: Sendable {
        case file(String)
        case linked(PluginCandidate)
    }

    let subject: Subject
    let options: PluginConformance.Options
    let trace: RuleTrace
    private let found = Mutex<[PluginConformance.Finding]>([])
    private let closers = Mutex<[@Sendable () async -> Void]>([])
    private let known: Known

    /// What the checks of one plugin share, each of which would take some tenths of a second for a large image.
    final class Known: Sendable {
        fileprivate let inspection = Mutex<PluginInspection?>(nil)
        fileprivate let plugin = Mutex<Plugin?>(nil)
    }

    /// Begins a check.
    ///
    /// - Parameter known: What earlier checks of the same plugin in this process know.
    init(
        _ subject: Subject,
        _ options: PluginConformance.Options,
        trace: RuleTrace = .none,
        known: Known = Known()
    ) {
        self.subject = subject
        self.options = options
        self.trace = trace
        self.known = known
    }

    /// Begins a part of this check with other options.
    func part(_ options: PluginConformance.Options) -> RuleRun {
        RuleRun(subject, options, trace: trace, known: known)
    }

    /// Every broken rule, once for each way it was broken.
    var findings: [PluginConformance.Finding] { found.withLock(\.self) }

    /// Adds a finding, unless there is one that says the same.
    func report(_ rule: PluginConformance.Rule, _ message: String) {
        trace.add("finding: \(rule.id): \(message)")
        found.withLock { found in
            let finding = PluginConformance.Finding(rule, message)
            if !found.contains(finding) { found.append(finding) }
        }
    }

    /// Runs something when the check has ended, the last one first.
    func atEnd(_ body: @escaping @Sendable () async -> Void) {
        closers.withLock { $0.append(body) }
    }

    /// Ends what the check began.
    func end() async {
        for body in closers.withLock(\.self).reversed() { await body() }
    }

    // MARK: The plugin

    /// What is known of the file without running it; nil for a linked plugin.
    var inspection: PluginInspection? {
        guard case .file(let path) = subject else { return nil }
        return known.inspection.withLock { known in
            if let known { return known }
            let inspection = PluginInspection(path: path)
            known = inspection
            return inspection
        }
    }

    /// The plugin's manifest.
    ///
    /// - Throws: If there is none that can be read, which rules of the manifest report.
    func manifest() throws(RuleStop) -> Manifest {
        switch subject {
        case .linked(let candidate): return candidate.manifest
        case .file(let path):
            // As the host finds it, which takes a fraction of an inspection; that one finds it in a file that cannot be used, too.
            if let candidate = try? PluginCatalog.candidate(path: path) { return candidate.manifest }
            guard let manifest = inspection?.manifest else { throw .inapplicable("the manifest cannot be read") }
            return manifest
        }
    }

    /// The plugin's file, found as the host finds it.
    func candidate() throws(RuleStop) -> PluginCandidate {
        switch subject {
        case .linked(let candidate): return candidate
        case .file(let path):
            do throws(ConnectorError) {
                return try PluginCatalog.candidate(path: path)
            } catch {
                report(.loads, error.treeDescription)
                throw .found
            }
        }
    }

    /// Loads the plugin, unless an earlier check has.
    func plugin() throws(RuleStop) -> Plugin {
        if let plugin = known.plugin.withLock(\.self) {
            trace.add("load \(plugin.path)")
            return plugin
        }
        let candidate = try candidate()
        trace.add("load \(candidate.path)")
        do throws(ConnectorError) {
            let plugin = try PluginLoader().load(candidate)
            known.plugin.withLock { $0 = plugin }
            return plugin
        } catch {
            report(.loads, error.treeDescription)
            throw .found
        }
    }

    /// The plugin's function table.
    func table() throws(RuleStop) -> PluginTable {
        guard try manifest().entry != nil else { throw .inapplicable("a library without an entry has no instances") }
        guard let table = try plugin().table else { throw .inapplicable("there is no table") }
        return table
    }
}

extension PluginConformance.Rule {
    /// How a check ended.
    enum Outcome: Sendable, Equatable {
        case finished
        case inapplicable(String)
        case unchecked(String)
    }

    /// Checks a plugin, and ends what the check began.
    func run(_ run: RuleRun) async -> Outcome {
        var outcome = Outcome.finished
        do {
            try await check(run)
        } catch RuleStop.inapplicable(let reason) {
            outcome = .inapplicable(reason)
        } catch RuleStop.unchecked(let reason) {
            outcome = .unchecked(reason)
        } catch RuleStop.found {
        } catch {
            run.report(self, "the check failed: \(error)")
        }
        await run.end()
        return outcome
    }
}
