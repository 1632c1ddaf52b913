// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleTerminal
@testable import ConnectorConsoleWeb
@testable import ConnectorHost

/// Charts, and the numbers that they are made from.
@Suite
struct ChartTests {
    @Test func `the history keeps a sample for each second and each minute`() throws {
        var history = LoadHistory()
        var gate = Mock.gate("a")
        var total: UInt64 = 5
        for second in 0...120 {
            gate.calls = CallCounters(total: total, failures: total / 5)
            history.sample(Report(gates: [gate, Mock.gate("idle")], state: .open), [:])
            total += second < 60 ? 10 : 0
        }
        let load = try #require(history["a"])
        #expect(history["idle"] == nil, "there is nothing to draw")
        let seconds = load.seconds.samples.map(\.calls)
        #expect(seconds.count == 121 && seconds.first == 0, "earlier calls belong to no second")
        #expect(seconds[1] == 10 && seconds[60] == 10 && seconds[61] == 0)
        #expect(load.minutes.samples.map { ($0.calls * 10).rounded() } == [98, 2])
    }

    @Test func `a second's percentiles are those of the calls that ended in it`() throws {
        var history = LoadHistory()
        var gate = Mock.gate("a")
        gate.calls = CallCounters(total: 1)
        var durations = DurationHistogram()
        durations.record(29_000_000_000)
        history.sample(Report(gates: [gate], state: .open), ["a": durations])
        for _ in 0..<99 { durations.record(700_000) }
        durations.record(2_000_000_000)
        history.sample(Report(gates: [gate], state: .open), ["a": durations])
        let sample = try #require(history["a"]?.seconds.samples.last)
        #expect(sample.median > 0.0001 && sample.median <= 0.001)
        #expect(sample.p99 <= 0.001 && sample.p90 <= sample.p99)
        #expect(durations.quantile(1) == 30 && DurationHistogram().quantile(0.5) == nil)
    }

    @Test func `samples and connectors are bounded, and idle seconds take no room`() {
        var busy = Ring(limit: 3600)
        var idle = Ring(limit: 3600)
        for number in 1...20_000 {
            busy.append(Load.Sample(calls: Float(number)))
            idle.append(Load.Sample())
        }
        #expect(busy.samples.count == 3600 && busy.samples.last?.calls == 20_000 && busy.samples[0].calls == 16_401)
        #expect(busy.held <= 3660 && idle.held < 60 && idle.samples.count == 3600)
        var history = LoadHistory()
        let gates = (0..<1000).map { number in
            var gate = Mock.gate("\(number)")
            gate.calls = CallCounters(total: 1)
            return gate
        }
        history.sample(Report(gates: gates, state: .open), [:])
        #expect(gates.count { history[$0.path] != nil } == LoadHistory.connectorLimit)
    }

    @Test func `connectors that a reload removes make room for those that it adds`() {
        func report(_ numbers: Range<Int>) -> Report {
            let gates = numbers.map { number in
                var gate = Mock.gate("\(number)")
                gate.calls = CallCounters(total: 1)
                return gate
            }
            return Report(gates: gates, state: .open)
        }
        let limit = LoadHistory.connectorLimit
        var history = LoadHistory()
        history.sample(report(0..<limit), [:])
        history.sample(report(1..<limit + 2), [:])
        #expect(history["0"] == nil && history["\(limit)"] != nil && history["\(limit + 1)"] == nil)
        history.sample(report(0..<limit), [:])
        #expect(history["0"] != nil && history["\(limit)"] == nil)
    }

    @Test func `a connector that is first called late shows zeros until then, and its first calls`() throws {
        var history = LoadHistory()
        var gate = Mock.gate("a")
        for _ in 0..<90 { history.sample(Report(gates: [gate], state: .open), [:]) }
        #expect(history["a"] == nil, "nothing happened")
        gate.calls = CallCounters(total: 6, failures: 3)
        history.sample(Report(gates: [gate], state: .open), [:])
        let load = try #require(history["a"])
        #expect(load.seconds.samples.map(\.calls) == Array(repeating: 0, count: 90) + [6])
        #expect(load.seconds.samples.last?.failures == 3)
        for _ in 0..<29 { history.sample(Report(gates: [gate], state: .open), [:]) }
        #expect(history["a"]?.minutes.samples.map { ($0.calls * 10).rounded() } == [0, 1])
    }

    @Test func `seconds without a sample are filled in, so that the axis stays true`() throws {
        var history = LoadHistory()
        var gate = Mock.gate("a")
        gate.calls = CallCounters(total: 0)
        history.sample(Report(gates: [gate], state: .open), [:])
        gate.calls = CallCounters(total: 150)
        history.sample(Report(gates: [gate], state: .open), [:], after: 150)
        let load = try #require(history["a"])
        #expect(load.seconds.samples.map(\.calls) == [0] + Array(repeating: 1, count: 150))
        #expect(load.minutes.samples.count == 2)
        history.sample(Report(gates: [gate], state: .open), [:], after: .max)
        #expect(history["a"]?.seconds.samples.count == 3600 && history["a"]?.minutes.samples.count == 1440)
    }

    @Test(arguments: [(1, "1 s"), (59, "59 s"), (61, "1 min"), (3600, "1 h"), (5460, "1 h 31 min")])
    func `a chart reaches back as far as it has numbers`(count: Int, span: String) throws {
        var history = LoadHistory()
        var gate = Mock.gate("a")
        gate.calls = CallCounters(total: 1)
        let model = ChartModel([.init("x", .text, Array(repeating: 1, count: count))], every: .seconds(1))
        #expect(ConsoleRegistry.standard.component("x", model).span == span)
        for _ in 0..<count { history.sample(Report(gates: [gate], state: .open), [:]) }
        var snapshot = Mock.snapshot()
        snapshot.load["analytics/segment"] = history["a"]
        let scene = ConsoleRegistry.standard.scene(for: .gate("analytics/segment"), of: snapshot)
        let charts = scene.components.filter { $0.shape == .chart }
        #expect(charts.first?.span == (count > 3600 ? "1 h" : span))
        #expect(charts.first?.title == "Waiting events" && !scene.text.contains("last hour"))
        #expect(charts.contains { $0.title == "Waiting events by minutes" } == (count >= 900))
    }

    @Test func `a chart without an interval or without numbers claims no time span`() {
        let component = ConsoleRegistry.standard.component("x", ChartModel([.init("x", .text, [1, 2])]))
        #expect(component.span == nil)
        #expect(ConsoleRegistry.standard.component("x", ChartModel([], every: .seconds(1))).span == nil)
    }

    @Test func `no peak is lost when numbers are resampled to fewer places`() {
        var values = [Double](repeating: 0, count: 3600)
        values[1234] = 9
        #expect(ChartModel.resampled(values, to: 216).count == 216 && ChartModel.resampled(values, to: 216).max() == 9)
        #expect(ChartModel.resampled([1, 2], to: 216) == [1, 2] && ChartModel.resampled([1], to: 0).isEmpty)
    }

    @Test func `a chart says in words what it shows`() {
        let model = ChartModel(
            [.init("calls", .good, [0, 5, 1.25]), .init("failures", .bad, [0, 0, 0])],
            every: .seconds(1)
        )
        let component = ConsoleRegistry.standard.component("x", title: "Calls per second", model)
        let markup = ChartView(component).figure().text
        #expect(
            markup.contains("role=\"img\" aria-label=\"Calls per second, the last 3 s. calls: 1.25 now, at most 5; ")
        )
        #expect(markup.contains("class=\"line l1 g-bad\""), "each line has a shape of its own, too")
        #expect(markup.ranges(of: "<path").count == 3, "two lines, and the area below the first")
    }

    @Test(
        arguments: [
            (37.50000149011612, "38 ms"), (0, "0 ms"), (1.25, "1.25 ms"), (0.5, "0.5 ms"), (-0.05, "-0.05 ms"),
            (-0.001, "0 ms"), (-37.5, "-38 ms"), (-12_345, "-12 k ms"), (2.5e6, "2 M ms"), (.nan, "?"),
        ] as [(Double, String)]
    )
    func `a number has its unit and few digits, on a terminal as in a browser`(value: Double, text: String) {
        let model = ChartModel([.init("p50", .good, [value])], every: .seconds(1), unit: "ms")
        let component = ConsoleRegistry.standard.component("x", model)
        #expect(ChartView(component).figure().text.contains("<b>\(text)</b>"))
        let palette = TerminalPalette(isColoured: false, isUnicode: true)
        let page = Page(Scene(Route(["x"]), "x", [component]), width: 80, palette)
        #expect(page.lines.indices.contains { page.text(of: $0).text.hasSuffix(" \(text), at most \(text)") })
    }

    @Test(arguments: [[], [.nan], [.infinity, 1], [-5, -1], [1e300, 1e-300], [0]] as [[Double]])
    func `any numbers can be drawn`(_ values: [Double]) {
        let model = ChartModel([.init("x", .text, values), .init("y", .text, values + values)])
        let markup = ChartView(ConsoleRegistry.standard.component("x", model)).figure().text
        #expect(!markup.contains("nan") && !markup.contains("inf"))
    }
}
