// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices

/// Threads: the host calls from any thread, and lends none for long.
extension PluginConformance.Rule {
    static let threadRules: [Self] = [returns, anyThread, concurrentCancel, floatingPoint]

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
        let together = try await bench.with(threads: .one(WorkerThreads(limit: 1))).lifeCycle()
        let apart = try await bench.with(threads: .each).lifeCycle()
        if together.isSuccess != apart.isSuccess {
            run.report(anyThread, "open \(together.summary), but with a thread for each function it \(apart.summary)")
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
        let apart = bench.with(threads: .each)
        for _ in 0..<8 {
            let instance = try await bench.make()
            let (operation, answer) = instance.host.begin("open")
            let (begun, opened) = (OneShot<Void>(), OneShot<Void>())
            async let cancelling: Void = apart.onThread("cancel open, concurrently") {
                begun.send()
                var count = 0
                repeat {
                    instance.cancel(operation)
                    count += 1
                } while count < 32 || (opened.value == nil && count < 100_000)
            }
            await begun.wait()
            let refusal = try await apart.onThread("open") { [run] in
                defer { opened.send() }
                return instance.start(.open, operation, deadline: .max, run.report)
            }
            try await cancelling
            if refusal == nil { _ = await answer.wait(for: run.options.patience / 8, on: bench.services.clock) }
            try await bench.destroy(instance)
        }
    }

    static let floatingPoint: Self = Self(
        "floating-point-mode",
        level: 6,
        .threads,
        "Functions leave the floating-point mode as it was",
        expects: "No function returns with another rounding, other traps or other rules for denormals on its thread.",
        fix: "restore the mode on every way out of the function: fegetenv before the change, fesetenv after it",
        needs: .gate
    ) { run in
        try await run.bench().lifeCycle()
        // The thread of a runner cannot be asked from here.
        let gate = try await run.gate(isIsolated: false)
        for (capability, operation) in gate.callable where !operation.signature.isAsync {
            let name = gate.name(capability, operation)
            run.trace.add("call \(name)")
            let inputs = operation.signature.parameters.filter { $0.direction == .in }
            let arguments = plain(operation.signature)
            // A prepared call runs on this thread.
            let isChanged = try? await gate.client.withPrepared(name) { call throws(ConnectorError) -> Bool in
                for (index, input) in inputs.enumerated() {
                    if let value = arguments[input.name] { try call.set(value, at: index) }
                }
                let mode = FloatingPointMode.current
                // Other rules judge what it answers.
                try? call()
                return mode.restore()
            }
            if isChanged == true { run.report(floatingPoint, "\(name) \(FloatingPointMode.change)") }
        }
    }
}
