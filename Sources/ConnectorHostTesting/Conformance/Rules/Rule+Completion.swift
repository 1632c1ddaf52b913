// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How calls complete. The host of every check watches for that; these rules provoke it.
extension PluginConformance.Rule {
    static let completionRules: [Self] = [
        completesOnce, completesRefused, completesOwn, destroyEnds, resultsReadable, progressPending,
    ]

    /// Every accepted call completes exactly once.
    public static let completion = completesOnce

    static let completesOnce: Self = Self(
        "completes-once",
        level: 1,
        .completion,
        "A call completes once",
        expects: "An accepted call is completed exactly once.",
        fix: "forget the call as soon as it is completed"
    ) { run in try await watched(run) }

    static let completesRefused: Self = Self(
        "completes-refused",
        level: 2,
        .completion,
        "A refused call never completes",
        expects: "A function that returns a failure completes the call neither before nor after.",
        fix: "either return a failure or complete the call",
        needs: .image
    ) { run in try await watched(run) }

    static let completesOwn: Self = Self(
        "completes-own",
        level: 2,
        .completion,
        "Only the instance's own calls are completed",
        expects: "An instance completes the operations that it was given, and no others.",
        fix: "keep the operation in the instance",
        needs: .image
    ) { run in
        let bench = try await run.bench()
        let (first, second) = (try await bench.make(), try await bench.make())
        // A plugin that keeps its call in a static variable completes the call of one instance for the other.
        _ = try await bench.begin(.open, on: first)
        _ = try await bench.begin(.open, on: second)
        await bench.settle()
        try await bench.destroy(first)
        try await bench.destroy(second)
    }

    static let destroyEnds: Self = Self(
        "destroy-ends",
        level: 3,
        .completion,
        "After destroy, nothing calls the host",
        expects: "Once destroy has returned, no code of the instance runs.",
        fix: "join threads and stop timers in destroy",
        needs: .image
    ) { run in
        let bench = try await run.bench()
        for _ in 0..<2 { try await bench.lifeCycle() }
        await bench.settle()
    }

    /// Once `destroy` has returned, the instance never calls the host.
    public static let destruction = destroyEnds

    static let resultsReadable: Self = Self(
        "results-readable",
        level: 2,
        .completion,
        "Results can be read",
        expects: "A result has an address if it has a length, and at most 64 MiB.",
        fix: "pass null and 0 for no result",
        needs: .image
    ) { run in try await watched(run) }

    static let progressPending: Self = Self(
        "progress-pending",
        level: 4,
        .completion,
        "Progress is reported only for pending calls",
        expects: "progress is reported before a call completes, and for no other call.",
        fix: "report progress before complete",
        needs: .image
    ) { run in try await watched(run) }

    private static func watched(_ run: RuleRun) async throws {
        let bench = try await run.bench()
        try await bench.lifeCycle()
        await bench.settle()
    }
}
