// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost

/// Large files: the work grows in proportion to the file and not to its square, and the answer does not grow at all.
@Suite struct ConfigurationScaleTests {
    /// A file of many faulty connectors, by kind of fault.
    private static func text(_ count: Int, _ connector: (Int) -> String) -> [UInt8] {
        Array("{\"version\": 1, \"connectors\": [\((0..<count).map(connector).joined(separator: ","))]}".utf8)
    }

    private static let kinds: [@Sendable (Int) -> String] = [
        { _ in #"{"name": "a", "plugin": "segment"}"# }, { #"{"name": "a\#($0)", "plugin": "${V\#($0)}"}"# },
        { #"{"name": "a\#($0)", "plugin": "x", "after": ["b\#($0)"]}"# }, { "\($0)" },
        { #"{"name": "a\#($0)", "plugin": "x", "k\#($0)": 1}"# }, { #"{"name": "A\#($0)", "plugin": 1}"# },
    ]

    @Test(arguments: kinds.indices)
    func `locating the faults of a file twice as long takes about twice the steps`(kind: Int) {
        let steps = [2000, 4000].map { count in
            let text = Self.text(count, Self.kinds[kind])
            var reader = ConfigurationReader(text: text, file: "c", base: BaseDirectory("."), environment: .init([:]))
            let value = (try? JSONValue(parsing: text)) ?? nil
            _ = reader.configuration(value)
            #expect(reader.json.problems.count == JSONReader.problemLimit)
            #expect(reader.json.omitted >= count - 1 - JSONReader.problemLimit)
            return reader.json.steps
        }
        #expect(steps[0] > 0 && steps[1] < 3 * steps[0])
    }

    @Test func `waits of every form take steps in proportion to their number`() throws {
        let forms: [(Int, Int) -> String] = [
            { _, number in "a\(number + 1)" }, { count, number in "a\((number + 1) % count)" },
            { count, number in "a\((number * 7 + 3) % count)\", \"a\(number / 2)\", \"a\((number + 1) % count)" },
        ]
        for form in forms {
            let steps = try [1000, 2000].map { count in
                let connectors = (0..<count).map {
                    Connector("a\($0)", plugin: "x", after: form(count, $0).split(separator: "\", \"").map(String.init))
                }
                var graph = DependencyGraph(connectors)
                let cycles = graph.cycles()
                #expect(cycles.count <= 100)
                return try #require(graph.steps > 0 ? graph.steps : nil)
            }
            #expect(steps[1] < 3 * steps[0] + 10_000)
        }
    }

    @Test func `the list of faults ends with the number of those left out`() {
        let text = String(decoding: Self.text(250, Self.kinds[0]), as: UTF8.self)
        do throws(ConfigurationErrors) {
            _ = try Configuration(parsing: text, file: "c")
            Issue.record("duplicates were not found")
        } catch {
            #expect(error.errors.count == JSONReader.problemLimit)
            #expect(error.omitted == 249 - JSONReader.problemLimit)
            #expect(error.description.hasSuffix("\nand 149 more"))
        }
    }

    @Test func `each plugin is looked up once, and no more are looked up once there are enough faults`() throws {
        let text = String(decoding: Self.text(5000) { #"{"name": "a\#($0)", "plugin": "p\#($0)"}"# }, as: UTF8.self)
        var lookups = 0
        let configuration = try Configuration(parsing: text)
        #expect(throws: ConfigurationErrors.self) {
            try configuration.resolved { specification in
                lookups += 1
                return manifest(of: specification)
            }
        }
        #expect(lookups == JSONReader.problemLimit)
        lookups = 0
        let same = String(decoding: Self.text(5000) { #"{"name": "a\#($0)", "plugin": "p"}"# }, as: UTF8.self)
        #expect(throws: ConfigurationErrors.self) {
            try Configuration(parsing: same).resolved { specification in
                lookups += 1
                return manifest(of: specification)
            }
        }
        #expect(lookups == 1)
    }

    @Test func `the text that variables fill in is limited`() {
        let big = String(repeating: "x", count: 100_000)
        for config in [
            #""\#(String(repeating: "${BIG}", count: 5000))""#,
            "[\(Array(repeating: #""${BIG}""#, count: 200).joined(separator: ","))]",
        ] {
            let found = faults(
                connectors: #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "traits": \#(config)}}"#,
                environment: ["BIG": big]
            )
            #expect(found.first?.contains("with variables expanded, the texts exceed 4096 KiB") ?? false)
        }
    }

    @Test(arguments: [
        #"{"name": "@", "plugin": "x"}"#, #"{"name": "a", "plugin": "x", "@": 1}"#, #"{"name": "a", "plugin": "@"}"#,
        #"{"name": "a", "plugin": "${@}"}"#, #"{"name": "a", "plugin": "${-@}"}"#, #"{"name": "a", "plugin": "./@"}"#,
        #"{"name": "a", "plugin": "segment", "after": ["@"]}"#, #"{"name": "a", "plugin": "segment", "version": "@"}"#,
        #"{"name": "a", "plugin": "segment", "timeout": "@"}"#, #"{"name": "a", "plugin": "segment", "probe": "@"}"#,
        #"{"name": "a", "plugin": "segment", "heal": "@"}"#, #"{"name": "a", "plugin": "segment", "simulate": "://@"}"#,
        #"{"name": "a", "plugin": "segment", "allow": {"hosts": ["@ "]}}"#,
        #"{"name": "a", "policy": "@", "connectors": []}"#,
        #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "endpoint": "@"}}"#,
        #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k", "@": 1}}"#,
        #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secret": "file:@"}}}"#,
        #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secret": "env:@"}}}"#,
        #"{"name": "a", "plugin": "segment", "config": {"writeKey": "${@}"}}"#, #"{"@": 1, "@": 2}"#,
        #"{"name": "a", "enabled": "$@"}"#,
        #"{"name": "a", "plugin": "x" "@": 1}"#, #"{"name": 1@}"#,
    ])
    func `no message quotes more than a part of a long text`(connector: String) {
        let long = String(repeating: connector.contains("1@") ? "9" : "A", count: 1 << 18)
        let found = faults(connectors: connector.replacing("@", with: long))
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.utf8.count < 700 }, "\(found.map { $0.prefix(900) })")
    }

    @Test func `more connectors than a host can open are one fault`() {
        let count = Configuration.connectorLimit + 100
        let text = String(decoding: Self.text(count) { #"{"name":"a\#($0)","plugin":"x"}"# }, as: UTF8.self)
        #expect {
            _ = try Configuration(parsing: text)
        } throws: { error in
            "\(error)".contains("the file has more than 32768 connectors [too-large]")
        }
    }
}
