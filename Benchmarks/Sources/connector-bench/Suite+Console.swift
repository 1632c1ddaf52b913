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
}
