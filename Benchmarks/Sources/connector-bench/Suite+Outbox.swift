// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What an event costs, from the application to the vendor.
extension Suite {
    /// How many tasks send events at once, where their total counts.
    private static let callerCount = 1000
    /// How many events make a sample.
    static let eventCount = 20_000

    /// The time until an event is durable, beside C that inserts rows of as many bytes.
    func enqueuing() async throws -> [Measurement] {
        var results: [Measurement] = []
        for (callers, count, together, goal) in [(64, Self.eventCount, 100, 1.5), (1, 2000, 1, 1.25)] {
            let title = callers == 1 ? "one caller" : "\(callers) callers"
            let name = together == 1 ? "C, each row" : "C, \(together) at once"
            var time = Measurement("enqueue/\(callers)", "enqueue 1 KB, \(title)", beside: name, goal: .ratio(goal))
            var cost = Measurement("enqueue-processor/\(callers)", "  its processor time", beside: name)
            var floor = Measurement("enqueue-floor/\(callers)", "  C, \(callers) at once", beside: name)
            for round in 0...5 {
                // Its gate never opens, so nobody needs to listen.
                let target = try OutboxTarget(files: files, port: 1)
                try await target.send(target.events(count..<count + 1, bytes: 1000), callers: 1)
                let events = target.events(0..<count, bytes: 1000)
                let (start, used) = (ContinuousClock.now, Usage.processorTime)
                try await target.send(events, callers: callers)
                let host = sample(of: count, since: start, used)
                try await target.close()
                let rows = ["\(files)/insert", "\(files)/insert.sqlite", "\(count)", "1000", "\(together)"]
                let reference = try ChildProcess.numbers(rows)
                guard round > 0, reference.count == 2 else { continue }
                time.host.add(host.time)
                time.reference.add(reference[0])
                cost.host.add(host.processorTime)
                cost.reference.add(reference[1])
                guard callers > 1 else { continue }
                // At best this many waiting callers share a synchronization, whatever the host does.
                let shared = try ChildProcess.numbers(rows.dropLast() + ["\(callers)"])
                guard shared.count == 2 else { continue }
                floor.host.add(shared[0])
                floor.reference.add(reference[0])
            }
            results += callers > 1 ? [time, cost, floor] : [time, cost]
        }
        return results
    }

    /// Events of 1 KB from the application to the sink, beside syslog-ng where it is installed. No goal, as that does not synchronize.
    func relaying() async throws -> [Measurement] {
        let name = "syslog-ng"
        let hasRelay =
            (try? ChildProcess.output(["sh", "-c", "syslog-ng --version | grep -q disk-buffer.*http"])) != nil
        if !hasRelay { print("syslog-ng is not installed: apt-get install syslog-ng-core syslog-ng-mod-http") }
        var time = Measurement(
            "relay/1000",
            "outbox to the sink, 1 KB, 1000 callers",
            beside: hasRelay ? name : nil
        )
        var cost = Measurement(
            "relay-processor/1000",
            "  its processor time",
            beside: hasRelay ? name : nil
        )
        let sink = try Sink(files: files)
        defer { sink.close() }
        var arrived = 0
        for round in 0...5 {
            let target = try OutboxTarget(files: files, port: sink.port)
            try await target.open()
            let sample = try await durable(arrived..<arrived + Self.eventCount, bytes: 1000, target, sink)
            arrived += Self.eventCount
            try await target.close()
            if round > 0 {
                time.host.add(sample.time)
                cost.host.add(sample.processorTime)
            }
            guard hasRelay else { continue }
            let folder = "\(files)/relayed"
            _ = try ChildProcess.output(["rm", "-rf", folder])
            _ = try ChildProcess.output(["mkdir", folder])
            let command = ["\(files)/relay", "\(sink.port)", folder, "\(arrived)", "\(Self.eventCount)", "1000"]
            let numbers = try ChildProcess.numbers(command)
            arrived += Self.eventCount
            if round > 0, numbers.count == 2 {
                time.reference.add(numbers[0])
                cost.reference.add(numbers[1])
            }
        }
        return [time, cost]
    }

    /// Events of 1 KB from the application to the sink, beside Segment's own client for Python where it is installed.
    func besidePython() async throws -> [Measurement] {
        let look = "try: import segment.analytics\nexcept ImportError: exit(1)"
        guard (try? ChildProcess.output(["python3", "-c", look])) != nil else {
            print("Segment's client for Python is not installed: pip install segment-analytics-python")
            return []
        }
        let name = "Python"
        var time = Measurement("python/1000", "outbox to the sink, 1 KB, 1000 callers", beside: name)
        var cost = Measurement("python-processor/1000", "  its processor time", beside: name)
        let sink = try Sink(files: files)
        defer { sink.close() }
        var arrived = 0
        for round in 0...3 {
            let target = try OutboxTarget(files: files, port: sink.port)
            try await target.open()
            let sample = try await durable(arrived..<arrived + Self.eventCount, bytes: 1000, target, sink)
            try await target.close()
            arrived += Self.eventCount
            let command = [
                "python3", "Programs/send.py", "\(sink.port)", "\(arrived)", "\(Self.eventCount)", "1000",
            ]
            let numbers = try ChildProcess.numbers(command)
            arrived += Self.eventCount
            guard round > 0, numbers.count == 2 else { continue }
            time.host.add(sample.time)
            cost.host.add(sample.processorTime)
            time.reference.add(numbers[0])
            cost.reference.add(numbers[1])
        }
        return [time, cost]
    }

    /// The processor time of events of 300 bytes, through the outbox and directly, beside C that asks of SQLite only what an outbox
    /// must ask.
    func delivering() async throws -> [Measurement] {
        var results: [Measurement] = []
        for (delivery, goal) in [("queued", 3.0), ("direct", 1.5)] {
            let title = delivery == "queued" ? "delivered event, 300 bytes, outbox" : "  direct, in batches of 100"
            let sink = try Sink(files: files)
            defer { sink.close() }
            let target = try OutboxTarget(files: files, port: sink.port, delivery: delivery)
            try await target.open()
            let name = "SQLite alone, C"
            var cost = Measurement(
                "\(delivery)-processor/300",
                "\(title), processor time",
                beside: name,
                goal: .ratio(goal)
            )
            var time = Measurement("\(delivery)/300", "  its time", beside: name)
            for round in 0...5 {
                let numbers = round * Self.eventCount..<(round + 1) * Self.eventCount
                let sample =
                    try await delivery == "queued"
                    ? durable(numbers, bytes: 300, target, sink) : direct(numbers, bytes: 300, target, sink)
                // The transactions of a thousand callers have some five hundred events.
                let rows = ["\(files)/queue", "\(files)/queue.sqlite", "\(Self.eventCount)", "300", "500"]
                let reference = try ChildProcess.numbers(rows)
                guard round > 0 else { continue }
                cost.host.add(sample.processorTime)
                time.host.add(sample.time)
                guard reference.count == 2 else { continue }
                time.reference.add(reference[0])
                cost.reference.add(reference[1])
            }
            try await target.close()
            results += [cost, time]
        }
        return results
    }

    /// The processor time of a delivered event while a few or a million wait, and the memory that the million take.
    func backlogs() async throws -> [Measurement] {
        var cost = Measurement(
            "backlog/1000000",
            "delivered event, a million queued",
            beside: "10,000 queued",
            goal: .ratio(1.1)
        )
        var memory = Measurement(
            "backlog/memory",
            "  memory of a million queued",
            unit: .kilobytes,
            goal: .value(10 * 1024)
        )
        for count in [10_000, 1_000_000] {
            let sink = try Sink(files: files)
            defer { sink.close() }
            let target = try OutboxTarget(files: files, port: sink.port)
            let step = 10_000
            try await target.send(target.events(0..<step, bytes: 300), callers: Self.callerCount)
            let before = Usage.heldMemory
            for first in stride(from: step, to: count, by: step) {
                try await target.send(target.events(first..<first + step, bytes: 300), callers: Self.callerCount)
            }
            if count == 1_000_000, let before, let after = Usage.heldMemory { memory.host.add(max(0, after - before)) }
            try await target.open()
            // As many rounds as the smaller backlog has enough events for.
            for _ in 0..<4 {
                let begun = (try await sink.wait(for: 0), Usage.processorTime)
                let ended = (try await sink.wait(for: begun.0 + 2000), Usage.processorTime)
                let sample = (ended.1 - begun.1) / Double(ended.0 - begun.0)
                if count == 1_000_000 { cost.host.add(sample) } else { cost.reference.add(sample) }
            }
            try await target.close()
        }
        return [cost, memory]
    }

    /// Sends events to the outbox and waits until the sink has counted each, and the outbox has recorded that.
    func durable(
        _ numbers: Range<Int>,
        bytes: Int,
        _ target: OutboxTarget,
        _ sink: Sink
    ) async throws -> (time: Double, processorTime: Double) {
        let events = target.events(numbers, bytes: bytes)
        let (start, used) = (ContinuousClock.now, Usage.processorTime)
        try await target.send(events, callers: Self.callerCount)
        try await sink.prove(numbers.upperBound)
        try await target.flush()
        let sample = sample(of: numbers.count, since: start, used)
        // The application's own events are freed when the time is up, as they were made before it began.
        withExtendedLifetime(events) {}
        return sample
    }

    /// Delivers events on one task, and waits until the sink has counted each.
    private func direct(
        _ numbers: Range<Int>,
        bytes: Int,
        _ target: OutboxTarget,
        _ sink: Sink
    ) async throws -> (time: Double, processorTime: Double) {
        let events = target.events(numbers, bytes: bytes)
        let batches = stride(from: 0, to: events.count, by: 100).map { Array(events[$0..<min(events.count, $0 + 100)]) }
        let (start, used) = (ContinuousClock.now, Usage.processorTime)
        try await target.deliver(batches)
        try await sink.prove(numbers.upperBound)
        let sample = sample(of: numbers.count, since: start, used)
        withExtendedLifetime(batches) {}
        return sample
    }

    private func sample(
        of count: Int,
        since start: ContinuousClock.Instant,
        _ used: Double
    ) -> (time: Double, processorTime: Double) {
        let time = Double((ContinuousClock.now - start).nanoseconds)
        return (time / Double(count), (Usage.processorTime - used) / Double(count))
    }
}
