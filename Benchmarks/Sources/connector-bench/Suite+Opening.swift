// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How long gates take to open.
extension Suite {
    /// Loads and opens generated plugins in a process of its own each time, beside a C program that opens the same files.
    func opening() async throws -> [Measurement] {
        var results: [Measurement] = []
        // Opening a single plugin mostly starts threads, which C does not do.
        let sealingGoals: [Int: Double] = [10: 2.5, 100: 1.8, 1000: 2]
        for count in [1, 10, 100, 1000] {
            let goal: Measurement.Goal? = count == 1 ? nil : .ratio(2)
            let sealingGoal = sealingGoals[count].map { Measurement.Goal.ratio($0) }
            let plugins = count == 1 ? "1 plugin" : "\(count) plugins"
            var open = Measurement("open/\(count)", "open \(plugins)", beside: "C", goal: goal)
            var sealed = Measurement(
                "open-sealed/\(count)",
                "  beside C that seals its copy too",
                beside: "C, sealing",
                goal: sealingGoal
            )
            var whole = Measurement("read-and-open/\(count)", "  with reading the configuration", beside: "C")
            let folder = "\(files)/\(count)"
            for round in 0...(count == 1000 ? rounds / 2 : rounds) {
                let reference = try ChildProcess.numbers(["\(files)/load", folder, "\(count)"])[0]
                let sealing = try ChildProcess.numbers(["\(files)/load", folder, "\(count)", "seal"])[0]
                let host = try ChildProcess.numbers([
                    "\(programs)/connector-bench", "open", "\(folder)/connectors.json",
                ])
                guard round > 0, host.count == 3 else { continue }
                open.host.add(host[1])
                open.reference.add(reference)
                sealed.host.add(host[1])
                sealed.reference.add(sealing)
                whole.host.add(host[0] + host[1])
                whole.reference.add(reference)
            }
            results += [open, sealed, whole]
        }
        return results
    }

    /// Opens fifty gates that take 100 ms each, at once.
    func slowGates() async throws -> [Measurement] {
        let slow = Measurement("slow/50", "open 50 gates that take 100 ms each", goal: .value(120_000_000))
        return try await alternate([slow], rounds: 3) { _ in
            let file = "\(files)/waiting/connectors.json"
            return (try ChildProcess.numbers(["\(programs)/connector-bench", "open", file])[1], nil)
        }
    }

    /// Runs whole programs, from before they are started to after their end.
    func processes() async throws -> [Measurement] {
        let gates = 100
        var time = Measurement("status/100", "connector-host status, 100 plugins", beside: "C", goal: .ratio(3))
        var sealed = Measurement(
            "status-sealed/100",
            "  beside C that seals its copy too",
            beside: "C, sealing",
            goal: .ratio(4)
        )
        var peak = Measurement(
            "status/100/memory",
            "  its peak memory",
            unit: .kilobytes,
            beside: "C",
            goal: .value(24 * 1024)
        )
        var help = Measurement("help", "connector-host --help", beside: "C, no plugin")
        let folder = "\(files)/\(gates)"
        let status = ["status", "--config", "\(folder)/connectors.json"]
        for round in 0...rounds {
            let reference = try process(["\(files)/load", folder, "\(gates)"])
            let sealing = try process(["\(files)/load", folder, "\(gates)", "seal"])
            let host = try process(["\(programs)/connector-host"] + status)
            let nothing = try process(["\(files)/load", folder, "0"])
            let printed = try process(["\(programs)/connector-host", "--help"])
            guard round > 0 else { continue }
            time.host.add(host.nanoseconds)
            time.reference.add(reference.nanoseconds)
            sealed.host.add(host.nanoseconds)
            sealed.reference.add(sealing.nanoseconds)
            peak.host.add(host.kilobytes)
            peak.reference.add(reference.kilobytes)
            help.host.add(printed.nanoseconds)
            help.reference.add(nothing.nanoseconds)
        }
        return [time, sealed, peak, help]
    }

    private func process(_ command: [String]) throws -> (nanoseconds: Double, kilobytes: Double) {
        let numbers = try ChildProcess.numbers(["\(files)/measure"] + command)
        guard numbers.count == 3, numbers[2] == 0 else {
            throw Failure("\(command.joined(separator: " ")) did not succeed")
        }
        return (numbers[0], numbers[1])
    }
}
