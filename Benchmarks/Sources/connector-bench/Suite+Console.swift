// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Suite {
    /// Shows a thousand gates in the browser.
    func console() async throws -> [Measurement] {
        let target = try await ConsoleTarget()
        var size = Measurement(
            "console/page/bytes",
            "console: first page of 1000 gates, bytes",
            unit: .count,
            goal: .value(100_000)
        )
        var page = Measurement("console/page", "  served in", goal: .value(20_000_000))
        var change = Measurement(
            "console/changes",
            "  all change 10 times a second, time in a second",
            goal: .value(100_000_000)
        )
        for round in 0...rounds {
            let clock = ContinuousClock()
            let start = clock.now
            let bytes = try await target.page()
            guard round > 0 else { continue }
            page.host.add(Double((clock.now - start).nanoseconds))
            size.host.add(Double(bytes))
        }
        for _ in 0..<3 { change.host.add(try await target.watch(for: .seconds(2)).time) }
        await target.close()
        return [size, page, change]
    }

    /// Calls an operation while nobody looks at the host, and while a hundred consoles do, alternately.
    func consoles() async throws -> [Measurement] {
        let target = try await WatchedHost(files: files)
        let beside = "no console"
        var call = Measurement(
            "console/call",
            "typed call, 100 consoles, processor time",
            beside: beside,
            goal: .ratio(1.05)
        )
        var passed = Measurement("console/call/clock", "  by the clock", beside: beside)
        var rest = Measurement("console/hundred", "  the process beside that, time in a second", beside: beside)
        for round in 0...rounds {
            let alone = try await target.calls.call(for: .seconds(1))
            let watched = try await target.watched(by: 100) { () async throws in
                try await target.calls.call(for: .seconds(1))
            }
            guard round > 0 else { continue }
            call.host.add(watched.processor)
            call.reference.add(alone.processor)
            passed.host.add(watched.clock)
            passed.reference.add(alone.clock)
            rest.host.add(watched.rest)
            rest.reference.add(alone.rest)
        }
        await target.close()
        return [call, passed, rest]
    }

    /// Looks at a thousand gates that change all the time in Chromium, where that is installed, beside a page that does not change.
    func frames() async throws -> [Measurement] {
        guard (try? ChildProcess.output(["sh", "-c", "command -v chromedriver && command -v chromium"])) != nil else {
            print("Chromium is not installed: apt-get install chromium chromium-driver")
            return []
        }
        let target = try await ConsoleTarget()
        let beside = "page at rest"
        let limit = Measurement.Goal.value(50_000_000)
        var rows = [
            Measurement("frames/99", "console in Chromium, 99 of 100 frames", beside: beside, goal: limit),
            Measurement("frames/longest", "  the longest in ten seconds", beside: beside, goal: limit),
            Measurement("frames/processor", "  the page's thread, time in a second", beside: beside),
            Measurement("frames/tasks", "  its tasks over 50 ms in ten seconds", unit: .count, beside: beside),
        ]
        let browser = ["\(files)/../../Tests/Browser/run", "frames", target.link, "10", "5"]
        let numbers = try ChildProcess.numbers(browser)
        let count = rows.count
        for start in stride(from: 0, to: numbers.count - 2 * count + 1, by: 2 * count) {
            for index in rows.indices {
                rows[index].host.add(numbers[start + index])
                rows[index].reference.add(numbers[start + count + index])
            }
        }
        await target.close()
        return rows
    }
}
