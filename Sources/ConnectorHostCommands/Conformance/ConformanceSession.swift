// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHostTesting
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Checks every rule for one plugin, in stages; rules that a broken plugin cannot keep are not tried.
struct ConformanceSession: Sendable {
    let path: String
    let options: PluginConformance.Options
    let strict: Int
    /// The ids of the only rules to check; empty for all rules up to the level.
    let only: Set<String>
    /// The maximum number of processes that run at once.
    let jobs: Int
    /// The options to pass to the processes.
    let childArguments: [String]

    /// Checks every rule. If the task is cancelled, the processes are killed, and the rest is not checked.
    func run() async -> ConformanceReport {
        let clock = ContinuousClock()
        let start = clock.now
        let rules = PluginConformance.Rule.all.filter { rule in
            only.isEmpty ? rule.level <= strict : only.contains(rule.id)
        }
        let inspection = PluginInspection(path: path)
        var report = ConformanceReport(
            path: inspection.path,
            plugin: inspection.manifest.map { "\($0.id) \($0.version)" },
            sha256: inspection.sha256,
            seed: options.seed,
            strict: strict,
            results: rules.map { ConformanceReport.Result($0, .unchecked("it was not reached")) },
            duration: .zero
        )
        var problem: String?
        var neverOpens: String?
        for stage in PluginConformance.Rule.Stage.allCases {
            let checked = rules.filter { $0.stage == stage }
            let possible = checked.filter { problem == nil && (neverOpens == nil || !$0.needsOpening) }
            for rule in checked where !possible.contains(rule) {
                report.add(ConformanceReport.Result(rule, .unchecked(problem ?? neverOpens ?? "")), nil)
            }
            for (result, answer) in await check(possible) { report.add(result, answer) }
            let failed = Set(report.results.filter(\.verdict.isFailure).map(\.rule.id))
            if stage == .file,
                report.results.contains(where: { $0.rule.stage == .file && $0.rule.level == 1 && $0.verdict.isFailure })
            {
                problem = "the file cannot be loaded"
            }
            if failed.contains("loads") { problem = problem ?? "the image does not load" }
            if failed.contains("configuration") || failed.contains("create") {
                problem = problem ?? "create refuses the configuration"
            }
            if failed.contains("open") { neverOpens = "open does not complete" }
        }
        report.duration = clock.now - start
        return report
    }

    /// Checks some rules, `jobs` at once; those that only read the file are checked in this process.
    private func check(_ rules: [PluginConformance.Rule]) async -> [(ConformanceReport.Result, RuleAnswer?)] {
        var checked: [(ConformanceReport.Result, RuleAnswer?)] = []
        for rule in rules where rule.stage == .file {
            let answer = await PluginConformance.check(rule, of: path, options: options)
            checked.append((ConformanceReport.Result(rule, answer.verdict), answer))
        }
        let waiting = rules.filter { $0.stage != .file }
        guard !waiting.isEmpty else { return checked }
        let queue = Queue(waiting)
        return await withTaskCancellationHandler {
            await withTaskGroup(of: [(ConformanceReport.Result, RuleAnswer?)].self) { group in
                for _ in 0..<min(jobs, waiting.count) {
                    let answer = OneShot<[(ConformanceReport.Result, RuleAnswer?)]>()
                    let work: @Sendable () -> Void = { [self] in
                        var results: [(ConformanceReport.Result, RuleAnswer?)] = []
                        while let rule = queue.next() { results.append(checkInProcess(rule, queue)) }
                        answer.send(results)
                    }
                    if !HostThread.start("conformance", work) { work() }
                    group.addTask { await answer.wait() }
                }
                return await group.reduce(into: checked) { $0 += $1 }
            }
        } onCancel: {
            queue.cancel()
        }
    }

    private func checkInProcess(
        _ rule: PluginConformance.Rule,
        _ queue: Queue
    ) -> (ConformanceReport.Result, RuleAnswer?) {
        let directory: TemporaryDirectory
        do throws(SystemError) {
            directory = try TemporaryDirectory("connector-test")
        } catch {
            let reason = "no directory can be made in \(TemporaryDirectory.parent): \(error.text)"
            return (ConformanceReport.Result(rule, .unchecked(reason)), nil)
        }
        defer { directory.remove() }
        unsafe mkdir(RuleProcess.scratch(in: directory.path), 0o700)
        let process = RuleProcess(rule: rule, path: path, arguments: childArguments, directory: directory.path)
        return process.run { queue.isCancelled }
    }

    /// The rules that are still to be checked, which threads take one by one.
    private final class Queue: Sendable {
        /// The rules in reverse order; nil once the check is cancelled.
        private let rules: Mutex<[PluginConformance.Rule]?>

        init(_ rules: [PluginConformance.Rule]) {
            self.rules = Mutex(rules.reversed())
        }

        var isCancelled: Bool { rules.withLock { $0 == nil } }

        func cancel() { rules.withLock { $0 = nil } }

        func next() -> PluginConformance.Rule? { rules.withLock { $0?.popLast() } }
    }
}
