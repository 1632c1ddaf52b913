// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The text format of Prometheus, and the names in it, in the documentation and in the dashboard.
@Suite(.timeLimit(.minutes(5))) struct PrometheusTextTests {
    /// A sample of every metric, with attributes that must be escaped.
    private let everything = MetricDefinition.all.flatMap { definition -> [MetricSample] in
        if definition.isOfHost { return [MetricSample(definition, [], .count(.max))] }
        return ["plain", "quote\" slash\\ line\n ünï"].map { path in
            let attributes =
                [(MetricDefinition.pathAttribute, path)] + definition.attributes.map { ($0, "some\"thing") }
            guard definition.kind == .histogram else { return MetricSample(definition, attributes, .count(.max)) }
            var histogram = DurationHistogram()
            for duration in [0, 100_000, 100_001, 30_000_000_001, UInt64.max] { histogram.record(duration) }
            return MetricSample(definition, attributes, .histogram(histogram))
        }
    }

    @Test func `every metric is described once, before its series`() {
        let lines = PrometheusText.write(everything).split(separator: "\n")
        for definition in MetricDefinition.all {
            let name = definition.prometheusName
            #expect(lines.count { $0.hasPrefix("# HELP \(name) ") } == 1)
            #expect(lines.count { $0.hasPrefix("# TYPE \(name) ") } == 1)
            let type = lines.firstIndex { $0.hasPrefix("# TYPE \(name) ") }
            let beginnings = definition.isOfHost ? ["\(name) "] : ["\(name){", "\(name)_bucket{"]
            let first = lines.firstIndex { line in beginnings.contains { line.hasPrefix($0) } }
            #expect(type != nil && first == type.map { $0 + 1 })
        }
    }

    @Test func `buckets are cumulative, and values of labels are escaped`() throws {
        let lines = PrometheusText.write(everything).split(separator: "\n").map(String.init)
        let start = #"connector_call_duration_seconds_bucket{connector_path="plain","#
        let buckets = lines.filter { $0.hasPrefix(start) }.compactMap { $0.split(separator: " ").last }.map(String.init)
        #expect(buckets == ["2", "3"] + Array(repeating: "3", count: 12) + ["5"])
        #expect(lines.contains { $0.hasPrefix(#"connector_call_duration_seconds_count{connector_path="plain","#) })
        #expect(lines.contains { $0.contains(#"le="0.0001""#) } && lines.contains { $0.contains(#"le="+Inf""#) })
        #expect(lines.contains { $0.contains(#"connector_path="quote\" slash\\ line\n ünï""#) })
    }

    @Test func `without samples the text is empty`() {
        #expect(PrometheusText.write([]) == "")
    }

    @Test(.enabled(if: Fixtures.has("promtool"), "there is no promtool; apt-get install prometheus"))
    func `promtool accepts the text of every metric, and that of a host`() async throws {
        let test = try TestHost(TestHost.leaf("a"), TestHost.leaf("b", plugin: "deliveries"))
        await test.host.open()
        try await test.call("a", "answer", ["value": 1])
        try await test.host.analytics("b").track("Seen")
        let scratch = ScratchDirectory()
        for (name, text) in [("every", PrometheusText.write(everything)), ("host", test.host.prometheusText)] {
            try #require(!text.isEmpty)
            let path = "\(scratch.path)/\(name)"
            scratch.write(Array(text.utf8), to: name)
            #expect(Fixtures.run("promtool check metrics < '\(path)' > '\(path).said' 2>&1") == 0)
            let said = try SmallFile(reading: "\(path).said", limit: 1 << 20)
            #expect(String(decoding: said.bytes, as: UTF8.self) == "", "nothing to complain of")
        }
        await test.host.close()
    }

    // MARK: Names

    @Test(arguments: MetricDefinition.all)
    func `names follow the conventions of OpenTelemetry`(_ definition: MetricDefinition) throws {
        let names = [definition.name] + definition.attributes
        for name in names {
            #expect(try /[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)+/.wholeMatch(in: name) != nil)
        }
        #expect(definition.name.hasPrefix("connector."))
        #expect(!definition.name.hasSuffix("total") && !definition.name.contains("second"), "the unit says that")
        #expect(try /s|By|\{[a-z]+\}/.wholeMatch(in: definition.unit) != nil)
        #expect(!MetricDefinition.all.contains { $0.name.hasPrefix(definition.name + ".") }, "a name is no namespace")
        #expect(!definition.help.hasSuffix("."))
    }

    /// The metrics that a text names, in the form of Prometheus.
    private func names(in text: String) -> Set<String> {
        var names: Set<String> = []
        for match in text.matches(of: /connector_[a-z_]+/) {
            var name = String(match.output)
            for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) { name.removeLast(suffix.count) }
            names.insert(name)
        }
        return names
    }

    private func text(_ path: String) throws -> String {
        let file = try SmallFile(reading: "\(Fixtures.sources)/../../\(path)", limit: 1 << 20)
        return String(decoding: file.bytes, as: UTF8.self)
    }

    @Test func `the dashboard shows every metric, and no other`() throws {
        let dashboard = try JSONValue(parsing: text("Examples/Grafana/connector-host.json"))
        let panels = try #require(dashboard["panels"]?.array)
        let queries = panels.flatMap { $0["targets"]?.array ?? [] }.compactMap { $0["expr"]?.string }
        let variables = dashboard["templating"]?["list"]?.array?.compactMap { $0["query"]?.string } ?? []
        let attributes = Set(
            ([MetricDefinition.pathAttribute] + MetricDefinition.all.flatMap(\.attributes)).map(PrometheusText.name)
        )
        let shown = names(in: queries.joined(separator: "\n")).subtracting(attributes)
        #expect(shown == Set(MetricDefinition.all.map(\.prometheusName)))
        #expect(names(in: variables.joined(separator: "\n")).subtracting(attributes).isSubset(of: shown))
        #expect(panels.allSatisfy { $0["title"]?.string?.isEmpty == false })
    }

    @Test func `the article lists every metric, its kind and its attributes`() throws {
        let article = try text("Sources/ConnectorHost/ConnectorHost.docc/Observing.md")
        for definition in MetricDefinition.all {
            let row = article.split(separator: "\n").first { $0.hasPrefix("| `\(definition.name)` |") }
            let cells = try #require(row, "\(definition.name) is not in the article").split(separator: "|").map {
                $0.split(separator: " ").joined(separator: " ")
            }
            #expect(cells.count >= 4)
            #expect(cells[1] == "\(definition.kind.rawValue), `\(definition.unit)`")
            #expect(cells[2] == definition.attributes.map { "`\($0)`" }.joined(separator: ", "))
            #expect(article.contains("`\(definition.prometheusName)`") || definition.kind != .histogram)
        }
    }
}
