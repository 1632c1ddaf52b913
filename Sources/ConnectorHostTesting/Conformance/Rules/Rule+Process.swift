// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The process belongs to the application.
extension PluginConformance.Rule {
    static let processRules: [Self] = [standardOutput, leavesProcess, leavesSignals, forksNot]

    /// The plugin writes nothing to standard output, which belongs to the application.
    public static let standardOutput: Self = Self(
        "standard-output",
        level: 3,
        .process,
        "Nothing is written to standard output",
        expects: "The plugin prints nothing: standard output belongs to the application.",
        fix: "use the service log/1",
        needs: .image
    ) { run in
        await StandardOutput.watched { text in
            run.report(standardOutput, "wrote to standard output: \(text)")
        } body: {
            _ = try? await run.bench().lifeCycle()
        }
    }

    static let leavesProcess: Self = Self(
        "process-state",
        level: 4,
        .process,
        "The process stays as it was",
        expects: "The plugin changes no variable, directory, file mask or locale, and closes only its own descriptors.",
        fix: "pass values by parameters; use openat and newlocale; close each descriptor once",
        needs: .image,
        ownsProcess: true
    ) { run in
        for change in try await changes(run) where !change.hasPrefix("the handler") {
            run.report(leavesProcess, "an instance changed \(change)")
        }
    }

    static let leavesSignals: Self = Self(
        "signal-handlers",
        level: 4,
        .process,
        "Signal handlers stay as they were",
        expects: "The plugin installs no signal handler.",
        fix: "remove the call; the host handles signals",
        needs: .image,
        ownsProcess: true
    ) { run in
        for change in try await changes(run) where change.hasPrefix("the handler") {
            run.report(leavesSignals, "an instance changed \(change)")
        }
    }

    static let forksNot: Self = Self(
        "no-children",
        level: 5,
        .process,
        "No processes are started",
        expects: "The plugin starts no process, by fork, posix_spawn or system.",
        fix: "do the work in the process, or ask the operator to run the program as a service",
        needs: .image,
        ownsProcess: true
    ) { run in
        let before = ProcessState.current
        try await run.bench().lifeCycle()
        let after = ProcessState.current
        if after.hasChildren, !before.hasChildren || after.forks > before.forks {
            run.report(forksNot, "an instance started a process")
        } else if after.forks > before.forks {
            run.report(forksNot, "an instance started a process, and waited for it")
        }
    }

    private static func changes(_ run: RuleRun) async throws -> [String] {
        let bench = try await run.bench()
        // Only now: what the first use of the host's services changes is not the plugin's doing.
        let before = ProcessState.current
        let closed = try await DescriptorSentinels.closed { try await bench.lifeCycle() }
        let changes = ProcessState.current.changes(since: before)
        guard !closed.isEmpty else { return changes }
        return changes + ["descriptors that are not its own: \(closed.map(\.description).joined(separator: ", "))"]
    }
}
