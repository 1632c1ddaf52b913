// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest
internal import Synchronization

/// One check of one plugin: what it needs and what it has found.
final class RuleRun: Sendable {
    /// The subject of a check: a file, or a plugin that the process links.
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
    /// The check that this is a part of; nil if it is a whole one.
    private let whole: RuleRun?

    /// What the checks of one plugin share; for a large image, making each part takes some tenths of a second.
    final class Known: Sendable {
        fileprivate let inspection = Mutex<PluginInspection?>(nil)
        fileprivate let plugin = Mutex<Plugin?>(nil)
    }

    /// Begins a check.
    ///
    /// - Parameter known: What earlier checks of the same plugin in this process have found out.
    init(
        _ subject: Subject,
        _ options: PluginConformance.Options,
        trace: RuleTrace = .none,
        known: Known = Known(),
        partOf whole: RuleRun? = nil
    ) {
        self.subject = subject
        self.options = options
        self.trace = trace
        self.known = known
        self.whole = whole
    }

    /// A part of this check with other options: what it reports and what it registers for the end are this check's.
    func part(_ options: PluginConformance.Options) -> RuleRun {
        RuleRun(subject, options, trace: trace, known: known, partOf: self)
    }

    /// Every broken rule, once for each way it was broken.
    var findings: [PluginConformance.Finding] { found.withLock(\.self) }

    /// Adds a finding, unless an equal one exists.
    func report(_ rule: PluginConformance.Rule, _ message: String) {
        if let whole { return whole.report(rule, message) }
        trace.add("finding: \(rule.id): \(message)")
        found.withLock { found in
            let finding = PluginConformance.Finding(rule, message)
            if !found.contains(finding) { found.append(finding) }
        }
    }

    /// Registers work to run when the check ends, in reverse order of registration.
    func atEnd(_ body: @escaping @Sendable () async -> Void) {
        if let whole { return whole.atEnd(body) }
        closers.withLock { $0.append(body) }
    }

    /// Runs the registered work, which ends what the check began.
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
    /// - Throws: `RuleStop.unchecked` if it cannot be read, which the rule about it reports.
    func manifest() throws(RuleStop) -> Manifest {
        switch subject {
        case .linked(let candidate): return candidate.manifest
        case .file(let path):
            // Find it as the host does, which takes a fraction of the time of an inspection. Only an inspection reads unusable files, too.
            if let candidate = try? PluginCatalog.candidate(path: path) { return candidate.manifest }
            guard let manifest = inspection?.manifest else { throw .unchecked("the manifest cannot be read") }
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
                report(.loads, error.withCause)
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
            report(.loads, error.withCause)
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

extension ConnectorError {
    /// The error in one line, with its cause and its remedy.
    var withCause: String { description + (cause.map { " (\($0))" } ?? "") }
}
