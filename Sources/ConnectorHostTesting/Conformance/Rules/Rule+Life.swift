// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorLoading
internal import ConnectorManifest

/// The life of an instance, in every state.
extension PluginConformance.Rule {
    static let lifeRules: [Self] = [
        creates, createSurvives, createLeavesNothing, opens, openEvidence, probeCompletes, probeEvidence, closes,
        destroyUnopened, destroyOpen, reopens, independent, many,
    ]

    /// `create` returns an instance, or fails and leaves none.
    public static let creation = createLeavesNothing

    static let creates: Self = Self(
        "create",
        level: 1,
        .life,
        "create takes a configuration that fits the manifest",
        expects: "create succeeds with every configuration that the host has checked against the manifest.",
        fix: "say in the manifest what create requires: required, values, minimum, maximum",
        needs: .image
    ) { run in
        let bench = try await run.bench(hasVendor: false)
        try await bench.destroy(bench.make())
    }

    static let createSurvives: Self = Self(
        "create-malformed",
        level: 3,
        .life,
        "create survives texts that are not a configuration",
        expects: "create fails for a text that is not a JSON object, or ignores it; it does not crash.",
        fix: "check the text before use, and return CONNECTOR_INVALID",
        needs: .image
    ) { run in try await malformed(run) }

    static let createLeavesNothing: Self = Self(
        "create-fails-clean",
        level: 3,
        .life,
        "A create that fails leaves nothing",
        expects: "create leaves *instance null when it fails.",
        fix: "free what create made, and leave *instance untouched",
        needs: .image
    ) { run in try await malformed(run) }

    /// Creates instances from texts that no host passes.
    static func malformed(_ run: RuleRun) async throws {
        let bench = try await run.bench(hasVendor: false)
        for text in ConformanceConfiguration.wrong {
            let creation = try await bench.create(Array(text.utf8), isWrong: true)
            if creation.leftInstance {
                run.report(
                    createLeavesNothing,
                    "create failed for \"\(text)\", but left an instance that is never destroyed"
                )
            }
            if creation.status == Int32(CONNECTOR_OK) { try await bench.destroy(creation.instance) }
        }
    }

    static let opens: Self = Self(
        "open",
        level: 1,
        .life,
        "open completes",
        expects: "open completes before its deadline, with evidence or an error.",
        fix: "complete the call on every way out of open, also on failures and after a timeout",
        needs: .image
    ) { run in try await run.bench().lifeCycle() }

    static let openEvidence: Self = Self(
        "open-evidence",
        level: 2,
        .life,
        "open completes with evidence",
        expects: "The result is an array of {\"kind\", \"detail\"}; kinds are configured, reachable and authenticated.",
        fix: "complete with evidence as connector/plugin.h describes"
    ) { run in try await run.bench().lifeCycle() }

    /// `open` and `probe` complete with evidence.
    public static let evidence = openEvidence

    static let probeCompletes: Self = Self(
        "probe",
        level: 2,
        .life,
        "probe completes",
        expects: "probe completes before its deadline, with evidence or an error.",
        fix: "complete the call on every way out of probe"
    ) { run in try await probed(run) }

    static let probeEvidence: Self = Self(
        "probe-evidence",
        level: 3,
        .life,
        "probe completes with evidence",
        expects: "The result of probe has the form of that of open.",
        fix: "complete with evidence as connector/plugin.h describes"
    ) { run in try await probed(run) }

    private static func probed(_ run: RuleRun) async throws {
        let bench = try await run.bench()
        guard unsafe bench.table.probe != nil else { throw RuleStop.inapplicable("there is no probe") }
        try await bench.lifeCycle()
    }

    static let closes: Self = Self(
        "close",
        level: 2,
        .life,
        "close completes",
        expects: "close completes before its deadline.",
        fix: "complete the call on every way out of close"
    ) { run in
        let bench = try await run.bench()
        guard unsafe bench.table.close != nil else { throw RuleStop.inapplicable("there is no close") }
        try await bench.lifeCycle(probing: false)
    }

    static let destroyUnopened: Self = Self(
        "destroy-unopened",
        level: 2,
        .life,
        "An instance that was never opened can be destroyed",
        expects: "destroy after create, without open, frees the instance.",
        fix: "initialize everything that destroy frees in create"
    ) { run in
        let bench = try await run.bench(hasVendor: false)
        try await bench.destroy(bench.make())
    }

    static let destroyOpen: Self = Self(
        "destroy-open",
        level: 3,
        .life,
        "An instance that is open can be destroyed without close",
        expects: "destroy after open, without close, frees the instance: a host that gives up does that.",
        fix: "free in destroy whatever close would have freed"
    ) { run in
        let bench = try await run.bench()
        let instance = try await bench.make()
        _ = try await bench.run(.open, on: instance)
        try await bench.destroy(instance)
        await bench.settle()
    }

    static let reopens: Self = Self(
        "reopen",
        level: 3,
        .life,
        "A gate opens again after it was closed",
        expects: "A second and a third instance, one after the other, open like the first.",
        fix: "keep state in the instance, not in static variables"
    ) { run in
        let bench = try await run.bench()
        let first = try await bench.lifeCycle(probing: false)
        for number in 2...max(2, run.options.cycles) {
            let next = try await bench.lifeCycle(probing: false)
            guard next.isSuccess != first.isSuccess else { continue }
            run.report(reopens, "the first instance \(first.summary), but number \(number) \(next.summary)")
        }
    }

    static let independent: Self = Self(
        "instances-independent",
        level: 4,
        .life,
        "Instances do not affect each other",
        expects: "While one instance closes and goes, another one opens, proves and closes as if it were alone.",
        fix: "keep state in the instance, not in static variables"
    ) { run in
        let bench = try await run.bench()
        let (first, second) = (try await bench.make(), try await bench.make())
        let alone = try await bench.run(.open, on: first)
        let beside = try await bench.run(.open, on: second)
        if alone.isSuccess != beside.isSuccess {
            run.report(independent, "the first of two instances \(alone.summary), but the second \(beside.summary)")
        }
        _ = try await bench.run(.close, on: first)
        try await bench.destroy(first)
        if beside.isSuccess, unsafe bench.table.probe != nil {
            let probe = try await bench.run(.probe, on: second)
            if !probe.isSuccess { run.report(independent, "after the other one was closed, probe \(probe.summary)") }
        }
        _ = try await bench.run(.close, on: second)
        try await bench.destroy(second)
    }

    static let many: Self = Self(
        "instances-many",
        level: 6,
        .life,
        "Sixteen instances open at once",
        expects: "Sixteen instances that open concurrently all complete, and all alike.",
        fix: "guard what instances share with a lock, or share nothing"
    ) { run in
        let bench = try await run.bench()
        if try run.manifest().isExclusive { throw RuleStop.inapplicable("the manifest says that it is exclusive") }
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask { try await bench.lifeCycle(probing: false).isSuccess }
            }
            return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        let opened = outcomes.count(where: \.self)
        if opened != 0, opened != outcomes.count {
            run.report(many, "of sixteen instances that opened at once, \(opened) succeeded")
        }
    }
}

extension ConformanceBench.Outcome {
    /// The outcome as the end of a sentence.
    var summary: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed(let status, let message): "failed with the status \(status): \(message)"
        case .pending: "did not complete"
        }
    }
}
