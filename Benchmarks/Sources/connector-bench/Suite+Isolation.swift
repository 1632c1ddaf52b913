// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// What a runner costs, beside C that exchanges messages between two processes.
extension Suite {
    /// Calls a plugin in a runner, passes it a payload, and delivers events by one.
    func isolating() async throws -> [Measurement] {
        let target = try await IsolatedTarget(files: files)
        let measurements = [
            Measurement(
                "runner/call",
                "typed call in a runner, both busy",
                beside: "C, shared word",
                goal: .value(1000)
            ),
            Measurement(
                "runner/asleep",
                "typed call in a runner, from sleep",
                beside: "C, socket pair",
                goal: .ratio(1.2)
            ),
            Measurement("runner/batch", "one of 100 calls at once in a runner", goal: .value(500)),
            Measurement("runner/payload", "1 MB into a runner", beside: "memcpy", goal: .ratio(1.5)),
            Measurement("runner/payload-ring", "  beside a ring", beside: "C, such a ring", goal: .ratio(1.25)),
        ]
        let results = try await alternate(measurements) { measurement in
            switch measurement.id {
            case "runner/call": (try await target.call(count: 20_000), try turns("shared", 20_000))
            case "runner/asleep": (try await target.callFromSleep(count: 200), try turns("socket", 200))
            case "runner/batch": (try await target.callInBatches(count: 200), nil)
            case "runner/payload": (try await target.pass(count: 200), try turns("copy", 200))
            default: (try await target.pass(count: 200), try turns("ring", 200))
            }
        }
        await target.close()
        let opening = try isolatedOpening() + (await confinedOpening())
        return results + [try await isolatedLoss()] + opening + (try await isolatedDelivery())
    }

    /// Kills runners while they are called; a host for each.
    private func isolatedLoss() async throws -> Measurement {
        var time = Measurement("runner/loss", "call in a runner that is killed", goal: .value(5_000_000))
        for round in 0...rounds {
            let target = try await IsolatedTarget(files: files)
            let sample = try await target.loseRunner()
            await target.close()
            if round > 0 { time.host.add(sample) }
        }
        return time
    }

    /// Opens a plugin in C in a runner, beside C that opens it in a process with such a sandbox, where that holds.
    private func confinedOpening() async throws -> [Measurement] {
        let confine = ["\(files)/confine", "\(files)/1/plugins/libquick-0000.so"]
        guard (try? ChildProcess.numbers(confine)) != nil else { return [] }
        let configuration = try IsolatedTarget.write("quick-0000", isolation: "process", files: files)
        return try await alternate([
            Measurement("runner/open-confined", "open a plugin in C, sandboxed", beside: "C, same sandbox")
        ]) { _ in
            let samples = try ChildProcess.numbers(["\(programs)/connector-bench", "open", configuration])
            guard samples.count == 3 else { throw Failure("the plugin did not open in a runner") }
            return (samples[1], try ChildProcess.numbers(confine)[0])
        }
    }

    /// Opens a plugin in C and one in Swift in a runner, beside the same in the process; each in a process of its own.
    private func isolatedOpening() throws -> [Measurement] {
        let sink = try Sink(files: files)
        defer { sink.close() }
        let plugins: [(name: String, language: String, endpoint: String?, time: Double, memory: Double)] = [
            ("quick-0000", "C", nil, 5_000_000, 3072), ("segment", "Swift", sink.url, 15_000_000, 8192),
        ]
        return try plugins.flatMap { plugin in
            var time = Measurement(
                "runner/open-\(plugin.name)",
                "open a plugin in \(plugin.language) in a runner",
                beside: "in process",
                goal: .more(plugin.time)
            )
            var memory = Measurement(
                "runner/memory-\(plugin.name)",
                "  the runner's private memory",
                unit: .kilobytes,
                goal: .value(plugin.memory)
            )
            let configurations = try ["process", "none"].map {
                try IsolatedTarget.write(plugin.name, isolation: $0, endpoint: plugin.endpoint, files: files)
            }
            for round in 0...rounds {
                let samples = try configurations.map {
                    try ChildProcess.numbers(["\(programs)/connector-bench", "open", $0])
                }
                guard round > 0, samples.allSatisfy({ $0.count == 3 }) else { continue }
                time.host.add(samples[0][1])
                time.reference.add(samples[1][1])
                memory.host.add(samples[0][2] / 1024)
            }
            return [time, memory]
        }
    }

    private func turns(_ kind: String, _ count: Int) throws -> Double {
        try ChildProcess.numbers(["\(files)/turns", kind, "\(count)"])[0]
    }

    /// Events through the outbox to an adapter in a runner, beside the same adapter in this process.
    private func isolatedDelivery() async throws -> [Measurement] {
        let name = "in process"
        var time = Measurement("runner/events", "event to an adapter in a runner", beside: name, goal: .ratio(1.2))
        var cost = Measurement("runner/events-processor", "  the host's processor time", beside: name)
        let sink = try Sink(files: files)
        defer { sink.close() }
        var arrived = 0
        for round in 0...5 {
            for isolation in ["none", "process"] {
                let target = try OutboxTarget(files: files, port: sink.port, isolation: isolation)
                try await target.open()
                let sample = try await durable(arrived..<arrived + Self.eventCount, bytes: 300, target, sink)
                arrived += Self.eventCount
                try await target.close()
                guard round > 0 else { continue }
                if isolation == "none" {
                    time.reference.add(sample.time)
                    cost.reference.add(sample.processorTime)
                } else {
                    time.host.add(sample.time)
                    cost.host.add(sample.processorTime)
                }
            }
        }
        return [time, cost]
    }
}
