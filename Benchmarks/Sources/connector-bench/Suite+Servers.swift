// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What events cost if the outbox is on three NATS servers.
extension Suite {
    /// The time until an event is durable, beside C that publishes with the same client and options.
    func publishing() async throws -> [Measurement] {
        guard Cluster.isInstalled(files: files) else { return [] }
        let (callers, count) = (64, 20_000)
        var time = Measurement(
            "publish/\(callers)",
            "enqueue 1 KB, three NATS servers, \(callers) callers",
            beside: "C",
            goal: .ratio(1.25)
        )
        var cost = Measurement("publish-processor/\(callers)", "  its processor time", beside: "C")
        let servers = try Cluster(files: files)
        // Its gate never opens, so nobody needs to listen.
        let target = try OutboxTarget(files: files, port: 1, servers: servers)
        try await target.prepare()
        for round in 0...5 {
            let events = target.events(round * count..<(round + 1) * count, bytes: 1000)
            let (start, used) = (ContinuousClock.now, Usage.processorTime)
            try await target.send(events, callers: callers)
            let (end, processorTime) = (ContinuousClock.now, Usage.processorTime - used)
            let first = "\((round + 1) * 1_000_000)"
            let publish = ["\(files)/publish", servers.url, "OUTBOX.e.1.x", first, "\(count)", "1000", "\(callers)"]
            let reference = try ChildProcess.numbers(publish)
            guard round > 0, reference.count == 2 else { continue }
            time.host.add(Double((end - start).nanoseconds) / Double(count))
            cost.host.add(processorTime / Double(count))
            time.reference.add(reference[0])
            cost.reference.add(reference[1])
        }
        try await target.close()
        try servers.close()
        return [time, cost]
    }

    /// How fast several hosts drain one stream, compared with one, to a sink nearby and to one that is 20 ms away.
    func draining() async throws -> [Measurement] {
        guard Cluster.isInstalled(files: files) else { return [] }
        var results: [Measurement] = []
        for (distance, count) in [(0, 40_000), (20, 20_000)] {
            var alone = Samples()
            for (hosts, goal) in [(1, 1.0), (2, 1 / 1.7), (4, 1 / 3.0)] {
                let place = distance == 0 ? "a sink near by" : "a sink \(distance) ms away"
                let title = "drained event, \(hosts == 1 ? "one host" : "\(hosts) hosts"), \(place)"
                var time = Measurement(
                    "drain/\(distance)/\(hosts)",
                    title,
                    beside: hosts == 1 ? nil : "one host",
                    goal: hosts == 1 ? nil : .ratio(goal)
                )
                var busy = Measurement("drain-busy/\(distance)/\(hosts)", "  busy processors, percent", unit: .count)
                for _ in 1...3 {
                    let sample = try await drained(count, hosts: hosts, distance: distance)
                    time.host.add(sample.time)
                    busy.host.add(sample.busy)
                }
                if hosts == 1 { alone = time.host } else { time.reference = alone }
                results += [time, busy]
            }
        }
        return results
    }

    /// Fills a stream, and has hosts drain it.
    ///
    /// - Returns: The time for an event while the middle two thirds leave, and how busy the machine was.
    private func drained(_ count: Int, hosts: Int, distance: Int) async throws -> (time: Double, busy: Double) {
        let sink = try Sink(files: files, distance: distance)
        defer { sink.close() }
        let servers = try Cluster(files: files)
        let target = try OutboxTarget(files: files, port: sink.port, servers: servers)
        try await target.prepare()
        try await target.send(target.events(0..<count, bytes: 1000), callers: 256)
        let running = try (0..<hosts).map { try RunningHost($0, files: files) }
        let begun = (try await sink.wait(for: count / 6), ContinuousClock.now, Usage.busy)
        let ended = (try await sink.wait(for: count * 5 / 6), ContinuousClock.now, Usage.busy)
        try await sink.prove(count)
        for host in running { try host.close() }
        try await target.close()
        try servers.close()
        let busy = (ended.2.busy - begun.2.busy) / max(1, ended.2.all - begun.2.all)
        return (Double((ended.1 - begun.1).nanoseconds) / Double(ended.0 - begun.0), 100 * busy)
    }
}
