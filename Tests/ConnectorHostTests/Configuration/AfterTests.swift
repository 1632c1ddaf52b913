// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import Testing

@Suite struct AfterTests {
    @Test func `after may not name an absent connector, one that contains it, or one that it contains`() {
        let text = """
            {"name": "a", "plugin": "broken", "after": ["a", "zz"]},
            {"name": "c", "after": ["c/x"], "connectors": [
                {"name": "x", "plugin": "broken", "after": ["c", "y"]},
                {"name": "y", "plugin": "broken"}]}
            """
        #expect(
            faults(connectors: text) == [
                "c.json:1:75: a: a connector cannot wait for itself [dependency-cycle]",
                #"c.json:1:80: a: "after" names "zz", which does not exist [unknown-connector]; known: c, c/x, c/y"#,
                #"c.json:2:25: c: a connector cannot wait for "c/x", which it contains [dependency-cycle]"#,
                #"c.json:3:49: c/x: a connector cannot wait for "c", which contains it [dependency-cycle]"#,
            ]
        )
    }

    @Test func `after prefers a sibling to a root of the same name`() throws {
        let text = """
            {"version": 1, "connectors": [
                {"name": "b", "plugin": "p"},
                {"name": "g", "connectors": [
                    {"name": "a", "plugin": "p", "after": ["b", "b", "r"]},
                    {"name": "b", "plugin": "p"}]},
                {"name": "r", "plugin": "p"}]}
            """
        let configuration = try Configuration(parsing: text)
        #expect(configuration.connectors[1].children[0].after == ["g/b", "r"])
    }

    @Test(arguments: [
        // Two, three.
        Fault(
            #"{"name": "a", "plugin": "p", "after": ["b"]}, {"name": "b", "plugin": "p", "after": ["a"]}"#,
            "a → b → a"
        ),
        Fault(
            """
            {"name": "a", "plugin": "p", "after": ["b"]}, {"name": "b", "plugin": "p", "after": ["c"]},
            {"name": "c", "plugin": "p", "after": ["a"]}
            """,
            "a → b → c → a"
        ),
        // Through a composite: b waits for all of g, and x is in it.
        Fault(
            """
            {"name": "g", "connectors": [{"name": "x", "plugin": "p", "after": ["b"]}]},
            {"name": "b", "plugin": "p", "after": ["g"]}
            """,
            "g/x → b → g → g/x"
        ),
        // Through what holds up a composite: x starts with g, which waits for b.
        Fault(
            """
            {"name": "g", "after": ["b"], "connectors": [{"name": "x", "plugin": "p"}]},
            {"name": "b", "plugin": "p", "after": ["g/x"]}
            """,
            "g → b → g/x → g"
        ),
        // In a sequence each waits for the one before.
        Fault(
            """
            {"name": "s", "policy": "sequence", "connectors": [
                {"name": "one", "plugin": "p", "after": ["two"]}, {"name": "two", "plugin": "p"}]}
            """,
            "s/one → s/two → s/one"
        ),
        // Two circles are two faults.
        Fault(
            """
            {"name": "a", "plugin": "p", "after": ["b"]}, {"name": "b", "plugin": "p", "after": ["a"]},
            {"name": "c", "plugin": "p", "after": ["d"]}, {"name": "d", "plugin": "p", "after": ["c"]}
            """,
            "a → b → a",
            "c → d → c"
        ),
    ])
    func `a circle is shown with every connector in it`(fault: Fault) throws {
        let text = "{\"version\": 1, \"connectors\": [\(fault.connectors)]}"
        do throws(ConfigurationErrors) {
            _ = try Configuration(parsing: text)
            Issue.record("no circle was found")
        } catch {
            #expect(error.errors.map(\.code) == Array(repeating: .dependencyCycle, count: fault.expected.count))
            #expect(
                error.errors.map(\.message) == fault.expected.map { "connectors wait for each other: \($0)" }
            )
        }
    }

    @Test func `waits that only look like a circle are accepted`() throws {
        let text = """
            {"version": 1, "connectors": [
                {"name": "g", "connectors": [
                    {"name": "x", "plugin": "p"}, {"name": "y", "plugin": "p", "after": ["b", "x"]}]},
                {"name": "b", "plugin": "p", "after": ["g/x"]},
                {"name": "d", "plugin": "p", "after": ["b", "g"]}]}
            """
        #expect(try Configuration(parsing: text).connectors[2].after == ["b", "g"])
    }

    @Test func `a chain of waits as long as the file does not overflow the stack`() throws {
        let chain = (0..<20_000).map { #"{"name":"n\#($0)","plugin":"p","after":["n\#($0 + 1)"]}"# }
        let text = #"{"version":1,"connectors":[\#(chain.joined(separator: ",")),{"name":"n20000","plugin":"p"}]}"#
        let configuration = try Configuration(parsing: text)
        #expect(configuration.connectors.count == 20_001)
        var graph = DependencyGraph(configuration.connectors)
        #expect(graph.cycles().isEmpty)
    }
}
