// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// The load of a gate as charts: calls, latencies, and waiting events.
struct LoadCharts {
    let gate: GateReport
    let load: Load

    /// The charts by the second and, after fifteen minutes of samples, those by the minute.
    ///
    /// They reach back an hour and a day respectively, or to the start of the console.
    func components(_ context: SceneContext) -> [Component] {
        let seconds = charts("", load.seconds.samples, every: .seconds(1), context)
        let minutes = load.minutes.samples
        guard minutes.count >= 15 else { return seconds }
        return seconds + charts(" by minutes", minutes, every: .seconds(60), context)
    }

    private func charts(
        _ suffix: String,
        _ samples: [Load.Sample],
        every interval: Duration,
        _ context: SceneContext
    ) -> [Component] {
        var charts: [Component] = []
        func add(_ id: String, _ title: String, unit: String = "", _ series: Component.Series...) {
            let model = ChartModel(series, every: interval, unit: unit)
            charts.append(context.component(id + suffix, title: title + suffix, model))
        }
        func numbers(_ path: KeyPath<Load.Sample, Float>, times factor: Double = 1) -> [Double] {
            samples.map { Double($0[keyPath: path]) * factor }
        }
        if gate.calls != nil {
            add(
                "calls",
                "Calls per second",
                .init("calls", .good, numbers(\.calls)),
                .init("failures", .bad, numbers(\.failures))
            )
            add(
                "latency",
                "Latency",
                unit: "ms",
                .init("p50", .good, numbers(\.median, times: 1000)),
                .init("p90", .warning, numbers(\.p90, times: 1000)),
                .init("p99", .bad, numbers(\.p99, times: 1000))
            )
        }
        if gate.outbox != nil { add("waiting", "Waiting events", .init("waiting", .warning, numbers(\.waiting))) }
        return charts
    }
}
