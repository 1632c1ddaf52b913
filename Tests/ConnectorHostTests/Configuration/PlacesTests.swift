// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost

/// `same`: a leaf that stands in several places.
@Suite struct PlacesTests {
    private static let leaf = #"{"name": "a", "plugin": "segment", "config": {"writeKey": "k"}}"#

    private func problems(_ more: String) -> [String] {
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
        #expect(problems(fault.connectors).first == fault.expected.first)
    }

    /// Policies over places of the enabled leaves `a` and `b` and of `old`, which is disabled.
    @Test(
        arguments: [
            (#""policy": "canary", "canary": {"share": 0}"#, ["old", "a"], true),
            (#""policy": "canary""#, ["a", "old"], true),
            (#""policy": "canary""#, ["a", "b"], false),
            (#""policy": "shadow""#, ["old", "a", "b"], true),
            (#""policy": "shadow""#, ["a", "old"], true),
            (#""policy": "shadow""#, ["a", "old", "b"], false),
            (#""policy": "first""#, ["old", "a"], false),
            (#""policy": "canary", "enabled": false"#, ["old", "a"], false),
        ] as [(String, [String], Bool)]
    )
    func `a canary or a shadow that needs a disabled leaf is a fault`(
        settings: String,
        targets: [String],
        isWrong: Bool
    ) {
        let places = targets.map { #"{"name": "at-\#($0)", "same": "\#($0)"}"# }.joined(separator: ", ")
        let found = problems(
            #"{"name": "b", "plugin": "segment", "config": {"writeKey": "k"}}, "#
                + #"{"name": "old", "plugin": "segment", "enabled": false},"# + "\n"
                + #"{"name": "group", \#(settings), "connectors": [\#(places)]}"#
        )
        #expect(found.count == (isWrong ? 1 : 0), "\(found)")
        guard isWrong else { return }
        let message =
            #"group/at-old: the policy "\#(settings.contains("canary") ? "canary" : "shadow")" needs this connector, "#
        #expect(found.first?.contains(message + #"but "same" names "old", which is disabled [invalid-value]"#) == true)
    }

    @Test(
        arguments: [
            (["a", "old"], 2, 1), (["a", "a"], 2, 1), (["a", "b", "old"], 3, 2), (["a", "b", "old"], 2, nil),
            (["old"], 1, nil),
        ] as [([String], Int, Int?)]
    )
    func `a quorum counts no place of a disabled leaf, and those of one leaf once`(
        targets: [String],
        quorum: Int,
        maximum: Int?
    ) {
        let places = targets.enumerated().map { #"{"name": "p\#($0)", "same": "\#($1)"}"# }.joined(separator: ", ")
        let found = problems(
            #"{"name": "b", "plugin": "segment", "config": {"writeKey": "k"}}, "#
                + #"{"name": "old", "plugin": "segment", "enabled": false},"# + "\n"
                + #"{"name": "group", "quorum": \#(quorum), "connectors": [\#(places)]}"#
        )
        let expected = maximum.map {
            [
                "c.json:3:29: group: quorum is \(quorum), outside 1 to \($0): "
                    + "places of one leaf count once, those of a disabled one do not [invalid-value]"
            ]
        }
        #expect(found == expected ?? [])
    }
}
