// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// What a change costs while the host runs.
extension Suite {
    /// Changes one connector of many, plans, and calls an operation meanwhile.
    func reloading() async throws -> [Measurement] {
        let target = try await ReloadTarget(files: files, count: 1000)
        var reload = Measurement(
            "reload/1000",
            "reload of 1000 connectors, one changed",
            beside: "opening it",
            goal: .more(20_000_000)
        )
        var call = Measurement(
            "reload/call",
            "typed call during reloads, processor time",
            beside: "no reload",
            goal: .ratio(1.05)
        )
        var passed = Measurement("reload/call/clock", "  by the clock", beside: "no reload")
        var number = 0
        func next() async throws -> Double {
            number += 1
            try target.change(number)
            return try await target.reload()
        }
        for round in 0...rounds {
            let opening = try await target.openAgain()
            let reloading = try await next()
            guard round > 0 else { continue }
            reload.host.add(reloading)
            reload.reference.add(opening)
        }
        let calls = try TypedCalls(of: "gate-0000", in: target.host)
        for round in 0...rounds {
            let alone = try await calls.call(for: .milliseconds(500))
            let first = number + 1
            let changing = Task {
                for number in first... {
                    try target.change(number)
                    _ = try await target.reload()
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            let meanwhile = try await calls.call(for: .milliseconds(500))
            changing.cancel()
            // The sleep, or the next reload, ends it.
            if case .failure(let error) = await changing.result, !(error is CancellationError) { throw error }
            number += 1000
            guard round > 0 else { continue }
            call.host.add(meanwhile.processor)
            call.reference.add(alone.processor)
            passed.host.add(meanwhile.clock)
            passed.reference.add(alone.clock)
        }
        let memory = try await growth("reload/memory", "  memory after 100 reloads", goal: .value(2048)) {
            _ = try await next()
        }
        try await target.close()
        return [reload, call, passed] + memory + (try await planning())
    }

    /// Compares a file with what runs.
    private func planning() async throws -> [Measurement] {
        let target = try await ReloadTarget(files: files, count: 100)
        var plan = Measurement("reload/plan", "plan for 100 connectors", goal: .value(20_000_000))
        for round in 0...rounds {
            try target.change(round + 1)
            let start = ContinuousClock.now
            let made = try await target.host.plan()
            let duration = ContinuousClock.now - start
            guard made.changes.count == 1 else { throw Failure("the plan does not show one change") }
            guard round > 0 else { continue }
            plan.host.add(Double(duration.nanoseconds))
        }
        try await target.close()
        return [plan]
    }

    /// Replaces an image a hundred times.
    func swapping() async throws -> [Measurement] {
        let target = try await ReloadTarget(files: files, count: 1)
        let image = try target.image()
        var number = 0
        // The linker rounds each segment up to pages and keeps a record of each image: no program gets by with a hundred times the file.
        var rows = try await growth(
            "swap/memory",
            "memory after 100 swaps of an image",
            beside: "C",
            goal: .ratio(1.25),
            withImages: true
        ) {
            number += 1
            try target.place(image, number)
            _ = try await target.reload()
        }
        let file = "\(files)/1/plugins/libquick-0000.so"
        for index in rows.indices { rows[index].reference.add(try ChildProcess.numbers(["\(files)/swap", file])[0]) }
        try await target.close()
        return rows
    }

    /// How much the process grows while something happens a hundred times, after it has happened as often to fill caches.
    private func growth(
        _ id: String,
        _ title: String,
        beside: String? = nil,
        goal: Measurement.Goal,
        withImages: Bool = false,
        _ body: () async throws -> Void
    ) async throws -> [Measurement] {
        var row = Measurement(id, title, unit: .kilobytes, beside: beside, goal: goal)
        func memory() -> Double? { withImages ? Usage.heldMemoryWithImages : Usage.heldMemory }
        for _ in 0..<100 { try await body() }
        guard let before = memory() else { return [] }
        for _ in 0..<100 { try await body() }
        guard let after = memory() else { return [] }
        row.host.add(max(0, after - before))
        return [row]
    }
}
