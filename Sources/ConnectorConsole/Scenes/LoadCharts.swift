// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// How busy a gate was, as charts: calls, how long they took, and what waits.
struct LoadCharts {
    let gate: GateReport
    let load: Load

    /// The charts of the last hour by seconds, and those of the last day by minutes once there is a quarter of an hour of them.
    func components(_ context: SceneContext) -> [Component] {
        let hour = charts("hour", load.seconds.samples, every: .seconds(1), context)
        let minutes = load.minutes.samples
        return minutes.count < 15 ? hour : hour + charts("day", minutes, every: .seconds(60), context)
    }

    private func charts(
        _ name: String,
        _ samples: [Load.Sample],
        every interval: Duration,
        _ context: SceneContext
    ) -> [Component] {
        var charts: [Component] = []
        func add(_ id: String, _ title: String, unit: String = "", _ series: Component.Series...) {
            let model = ChartModel(series, every: interval, unit: unit)
            charts.append(context.component("\(id) \(name)", title: "\(title), last \(name)", model))
        }
        func numbers(_ path: KeyPath<Load.Sample, Float>, times factor: Double = 1) -> [Double] {
            samples.map { Double($0[keyPath: path]) * factor }
        }
        if gate.calls != nil {
            add(
                "calls",
                "Calls a second",
                .init("calls", .good, numbers(\.calls)),
                .init("failures", .bad, numbers(\.failures))
            )
            add(
                "latency",
                "Latency",
                unit: "ms",
                .init("p50", .good, numbers(\.median, times: 1000)),
                .init("p90", .warning, numbers(\.most, times: 1000)),
                .init("p99", .bad, numbers(\.nearlyAll, times: 1000))
            )
        }
        if gate.outbox != nil { add("waiting", "Waiting events", .init("waiting", .warning, numbers(\.waiting))) }
        return charts
    }
}
