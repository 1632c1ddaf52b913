// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices

/// Cancellation and deadlines.
extension PluginConformance.Rule {
    static let cancellationRules: [Self] = [
        cancelUnknown, cancelCompleted, cancelOpen, cancelTwice, cancelClose, deadlinePast, destroyPending,
    ]

    /// `cancel` can be called at any time, any number of times.
    public static let cancellation = cancelUnknown

    static let cancelUnknown: Self = Self(
        "cancel-unknown",
        level: 3,
        .cancellation,
        "cancel ignores a call that the plugin was never given",
        expects: "cancel of an unknown operation does nothing.",
        fix: "look the operation up before cancelling it",
        needs: .image
    ) { run in
        let bench = try await cancellable(run)
        let instance = try await bench.make()
        let opening = try await bench.run(.open, on: instance)
        let before = run.findings.count
        let (operation, answer) = instance.host.begin("a call that it never received")
        for _ in 0..<2 { try await bench.onThread("cancel an unknown operation") { instance.cancel(operation) } }
        let completion = await answer.wait(for: run.options.patience, on: bench.services.clock)
        if completion != nil || run.findings.count > before {
            run.report(cancelUnknown, "cancel completed a call that the plugin was never given")
        }
        if opening.isSuccess { _ = try await bench.run(.close, on: instance) }
        try await bench.destroy(instance)
    }

    static let cancelCompleted: Self = Self(
        "cancel-completed",
        level: 3,
        .cancellation,
        "cancel ignores a call that is over",
        expects: "cancel of a completed operation does nothing.",
        fix: "forget the call as soon as it is completed",
        needs: .image
    ) { run in
        let bench = try await cancellable(run)
        let instance = try await bench.make()
        let (operation, answer) = instance.host.begin("open")
        let refusal = try await bench.onThread("open") { [run] in
            instance.start(.open, operation, deadline: .max, run.report)
        }
        if refusal == nil { _ = await answer.wait(for: run.options.timeout, on: bench.services.clock) }
        let before = run.findings.count
        try await bench.onThread("cancel a completed operation") { instance.cancel(operation) }
        await bench.settle()
        if run.findings.count > before {
            run.report(cancelCompleted, "cancel of a call that was over made the plugin call the host")
        }
        try await bench.destroy(instance)
    }

    static let cancelOpen: Self = Self(
        "cancel-open",
        level: 3,
        .cancellation,
        "An opening can be cancelled",
        expects: "An instance whose opening was cancelled can be destroyed, whatever it was doing.",
        fix: "stop the request or timer of the call in cancel, and in destroy",
        needs: .image
    ) { run in try await cancelled(.open, times: 1, run) }

    static let cancelTwice: Self = Self(
        "cancel-twice",
        level: 4,
        .cancellation,
        "cancel can be called twice",
        expects: "The second cancel of a call does nothing.",
        fix: "make cancel idempotent",
        needs: .image
    ) { run in try await cancelled(.open, times: 2, run) }

    static let cancelClose: Self = Self(
        "cancel-close",
        level: 5,
        .cancellation,
        "A closing can be cancelled",
        expects: "An instance whose closing was cancelled can be destroyed.",
        fix: "stop the work of close in cancel"
    ) { run in
        let bench = try await cancellable(run)
        guard unsafe bench.table.close != nil else { throw RuleStop.inapplicable("there is no close") }
        try await cancelled(.close, times: 1, run)
    }

    static let deadlinePast: Self = Self(
        "deadline-past",
        level: 5,
        .cancellation,
        "A call whose deadline has passed completes",
        expects: "open with a deadline that has passed completes soon, with a result or an error.",
        fix: "compare the deadline before you compute with it: it may be in the past"
    ) { run in
        let bench = try await run.bench()
        let instance = try await bench.make()
        if let answer = try await bench.begin(.open, on: instance, deadline: 0),
            await answer.wait(for: run.options.timeout, on: bench.services.clock) == nil
        {
            run.report(
                deadlinePast,
                "open with a deadline that had passed did not complete within \(run.options.timeout)"
            )
        }
        try await bench.destroy(instance)
    }

    static let destroyPending: Self = Self(
        "destroy-opening",
        level: 4,
        .cancellation,
        "An instance can be destroyed while it opens",
        expects: "destroy right after open, without cancel, frees the instance.",
        fix: "stop in destroy what open has begun",
        needs: .image
    ) { run in
        let bench = try await run.bench()
        for _ in 0..<4 {
            let instance = try await bench.make()
            _ = try await bench.begin(.open, on: instance)
            try await bench.destroy(instance)
        }
        await bench.settle()
    }

    private static func cancelled(_ step: ConformanceInstance.Step, times: Int, _ run: RuleRun) async throws {
        let bench = try await cancellable(run)
        let instance = try await bench.make()
        if step == .close { _ = try await bench.run(.open, on: instance) }
        let (operation, answer) = instance.host.begin(step.rawValue)
        let refusal = try await bench.onThread(step.rawValue) { [run] in
            instance.start(step, operation, deadline: .max, run.report)
        }
        for _ in 0..<times { try await bench.onThread("cancel \(step)") { instance.cancel(operation) } }
        if refusal == nil { _ = await answer.wait(for: run.options.patience, on: bench.services.clock) }
        try await bench.destroy(instance)
        await bench.settle()
    }

    private static func cancellable(_ run: RuleRun) async throws -> ConformanceBench {
        let bench = try await run.bench()
        guard unsafe bench.table.cancel != nil else { throw RuleStop.inapplicable("there is no cancel") }
        return bench
    }
}
