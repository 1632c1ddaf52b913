// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost

/// `same`: a leaf that stands in several places.
@Suite struct PlacesTests {
    private static let leaf = #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k"}}"#

    private func complaints(_ more: String) -> [String] {
        faults(connectors: "\(Self.leaf),\n\(more)")
    }

    @Test func `a leaf in several places is resolved once`() throws {
        let text = """
            {"version": 1, "connectors": [
              {"name": "group", "connectors": [{"name": "b", "same": "a", "required": false}]}, \(Self.leaf)]}
            """
        let configuration = try Configuration(parsing: text)
        #expect(configuration.enabledLeaves.map(\.connector.path) == ["a"])
        #expect(configuration.allConnectors.compactMap(\.same) == ["a"])
        #expect(faults(text).isEmpty)
    }

    @Test(arguments: [
        Fault(
            #"{"name": "b", "same": "x"}"#,
            #"c.json:2:23: b: "same" names "x", which does not exist [unknown-connector]; did you mean "a"?"#
        ),
        Fault(
            #"{"name": "b", "same": "b"}"#,
            #"c.json:2:23: b: a connector cannot be another place of itself [invalid-value]; name a leaf with a "plugin""#
        ),
        Fault(
            #"{"name": "b", "same": "a"}, {"name": "c", "same": "b"}"#,
            #"c.json:2:51: c: "same" names "b", which is itself another place [invalid-value]; write "same": "a""#
        ),
        Fault(
            #"{"name": "b", "connectors": [{"name": "c", "same": "b"}]}"#,
            #"c.json:2:52: b/c: "same" names "b", which is a composite [invalid-value]; name one of its leaves"#
        ),
        Fault(
            #"{"name": "b", "same": "a", "timeout": "1s"}"#,
            #"c.json:2:28: b: "timeout" belongs to "a", of which this is another place [unknown-key]; move it there, or remove it"#
        ),
        Fault(
            #"{"name": "b", "same": 1}"#,
            #"c.json:2:23: b: same must be a string, not an integer [wrong-type]"#
        ),
    ])
    func `a place that names no leaf, or has settings of its own, is a fault`(fault: Fault) {
        #expect(complaints(fault.connectors).first == fault.expected.first)
    }
}
