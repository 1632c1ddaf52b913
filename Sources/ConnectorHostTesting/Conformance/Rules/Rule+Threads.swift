// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices

/// Threads: the host calls from any, and lends none for long.
extension PluginConformance.Rule {
    static let threadRules: [Self] = [returns, anyThread, concurrentCancel]

    /// Functions return promptly and never block the thread.
    public static let blocking = returns

    static let returns: Self = Self(
        "returns",
        level: 3,
        .threads,
        "Functions return, whatever they wait for",
        expects: "create, open, probe, close, cancel and destroy return without waiting for the vendor.",
        fix: "start the work, return CONNECTOR_OK, and complete the call when the work is done",
        needs: .image
    ) { run in try await run.bench().lifeCycle() }

    static let anyThread: Self = Self(
        "any-thread",
        level: 4,
        .threads,
        "Each function may come from another thread",
        expects:
            "An instance lives the same when each function is called from a thread of its own, which ends after it.",
        fix: "keep nothing in thread-local variables or thread-bound libraries"
    ) { run in
        let bench = try await run.bench()
        let usual = try await bench.lifeCycle()
        let apart = try await bench.onThreadsOfTheirOwn().lifeCycle()
        if usual.isSuccess != apart.isSuccess {
            run.report(anyThread, "open \(usual.summary), but with a thread for each function it \(apart.summary)")
        }
    }

    static let concurrentCancel: Self = Self(
        "cancel-concurrent",
        level: 5,
        .threads,
        "cancel may come at the same time as other functions",
        expects: "cancel from other threads, while the instance opens, does no harm.",
        fix: "guard the instance's calls with a lock",
        needs: .image
    ) { run in
        let bench = try await run.bench()
        guard unsafe bench.table.cancel != nil else { throw RuleStop.inapplicable("there is no cancel") }
        for _ in 0..<8 {
            let instance = try await bench.make()
            let (operation, answer) = instance.host.begin("open")
            async let cancelling: Void = bench.onThread("cancel open, concurrently") {
                for _ in 0..<32 { instance.cancel(operation) }
            }
            let refusal = try await bench.onThread("open") { [run] in
                instance.start(.open, operation, deadline: .max, run.report)
            }
            try await cancelling
            if refusal == nil { _ = await answer.wait(for: run.options.patience / 8, on: bench.services.clock) }
            try await bench.destroy(instance)
        }
    }
}
