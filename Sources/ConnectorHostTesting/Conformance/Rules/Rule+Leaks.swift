// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorLoading

/// What instances leave behind.
extension PluginConformance.Rule {
    static let leakRules: [Self] = [leaksMemory, leaksDescriptors, leaksThreads]

    static let leaksMemory: Self = Self(
        "leaks-memory",
        level: 6,
        .leaks,
        "Instances leave no memory",
        expects: "Hundreds of instances that were created and destroyed leave less than 512 bytes each.",
        fix: "free in destroy what create allocated; run the plugin with a leak sanitizer",
        ownsProcess: true
    ) { run in
        let bench = try await run.bench(hasVendor: false)
        let instance = try await bench.make()
        let count = 400
        func churn() async throws -> Int {
            try await bench.onThread("create and destroy \(count) times") { [bench, run] in
                let before = ProcessState.residentBytes
                for _ in 0..<count {
                    let next = ConformanceInstance.create(
                        bench.table,
                        bench.configuration.text,
                        isWrong: true,
                        instance.host,
                        instance.services,
                        run.report
                    )
                    if next.status == Int32(CONNECTOR_OK) { next.instance.free() }
                }
                return ProcessState.residentBytes - before
            }
        }
        _ = try await churn()
        // Memory that is kept once is no leak; memory that grows every time is.
        var growths: [Int] = []
        for _ in 0..<3 { growths.append(try await churn()) }
        try await bench.destroy(instance)
        if let least = growths.min(), least >= count * 512 {
            run.report(leaksMemory, "\(count) instances left \(least) bytes, each time again")
        }
    }

    static let leaksDescriptors: Self = Self(
        "leaks-descriptors",
        level: 5,
        .leaks,
        "Instances leave no descriptors",
        expects: "Instances that were opened and destroyed leave no descriptor open.",
        fix: "close in destroy, and on every failure of open, what open opened",
        ownsProcess: true
    ) { run in
        if let growth = try await growth(run, { $0.descriptors }) {
            run.report(leaksDescriptors, "\(cycles) instances left \(growth) descriptors open")
        }
    }

    static let leaksThreads: Self = Self(
        "leaks-threads",
        level: 5,
        .leaks,
        "Instances leave no threads",
        expects: "Threads that an instance started have ended when destroy returns.",
        fix: "join the instance's threads in destroy",
        ownsProcess: true
    ) { run in
        if let growth = try await growth(run, { $0.threads }) {
            run.report(leaksThreads, "\(cycles) instances left \(growth) threads running")
        }
    }

    private static let cycles = 12

    /// How much a number grew over `cycles` lives of instances; nil if by less than one per life.
    private static func growth(_ run: RuleRun, _ number: @Sendable (ProcessState) -> Int) async throws -> Int? {
        let bench = try await run.bench()
        // Let the host create its own threads and connections first.
        for _ in 0..<4 { try await bench.lifeCycle() }
        let before = number(ProcessState.current)
        for _ in 0..<cycles { try await bench.lifeCycle() }
        let growth = number(ProcessState.current) - before
        return growth >= cycles ? growth : nil
    }
}
