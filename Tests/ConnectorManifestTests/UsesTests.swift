// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorManifest

/// The gates that a manifest says its plugin uses.
@Suite struct UsesTests {
    private func read(_ members: String) -> (manifest: Manifest?, problems: [String]) {
        let text = #"{"manifest": 1, "id": "a", "version": "1.0.0", "abi": [1, 1], \#(members)}"#
        let (manifest, problems) = Manifest.read(Array(text.utf8), file: "m.json")
        return (manifest, problems.map { "\($0.position.map { "\($0)" } ?? ""): \($0.message)" })
    }

    @Test func `uses are read in order, also of capabilities that the project does not define`() {
        let (manifest, problems) = read(#""entry": "e", "uses": {"settings": "settings/1", "a.b": "own/12"}"#)
        #expect(problems == [])
        #expect(manifest?.uses.map(\.name) == ["settings", "a.b"])
        #expect(manifest?.uses.map(\.capability.description) == ["settings/1", "own/12"])
        #expect(read(#""entry": "e""#).manifest?.uses == [])
    }

    @Test func `a use may be optional`() {
        let uses = #"{"a": {"capability": "b/1", "optional": true}, "c": {"capability": "d/2"}, "e": "f/3"}"#
        let (manifest, problems) = read(#""entry": "e", "uses": \#(uses)"#)
        #expect(problems == [])
        #expect(manifest?.uses.map(\.description) == ["b/1 as a (optional)", "d/2 as c", "f/3 as e"])
    }

    @Test(arguments: [
        (#""entry": "e", "uses": []"#, "m.json:1:85: uses must be an object, not an array (wrong-type)"),
        (
            #""entry": "e", "uses": {"a": 1}"#,
            #"m.json:1:91: uses.a must be a capability such as "settings/1", or an object that names one, not an integer (wrong-type)"#
        ),
        (
            #""entry": "e", "uses": {"a": {"capability": "b/1", "optinal": true}}"#,
            #"m.json:1:113: unknown key "optinal" (unknown-key)"#
        ),
        (
            #""entry": "e", "uses": {"a": {}}"#,
            "m.json:1:91: uses.a.capability is missing; it must be a string (missing-value)"
        ),
        (
            #""entry": "e", "uses": {"a": {"capability": "b"}}"#,
            #"m.json:1:106: the capability "b" must be like settings/1 (invalid-value)"#
        ),
        (
            #""entry": "e", "uses": {"a": {"capability": "b/1", "optional": 1}}"#,
            "m.json:1:125: uses.a.optional must be true or false, not an integer (wrong-type)"
        ),
        (
            #""entry": "e", "uses": {"a": "settings"}"#,
            #"m.json:1:91: the capability "settings" must be like settings/1 (invalid-value)"#
        ),
        (
            #""entry": "e", "uses": {"A": "settings/1"}"#,
            #"m.json:1:86: the name "A" must be 1 to 64 lower-case letters, digits, '-', '_' and '.', of which the first is a letter or digit (invalid-value)"#
        ),
        (
            #""library": "libm.so.6", "uses": {"a": "settings/1"}"#,
            #"m.json:1:87: a library without an "entry" cannot use gates (invalid-value)"#
        ),
        (
            #""entry": "e", "services": {"required": ["gates/1"]}"#,
            #"m.json:1:103: the host service "gates/1" comes with "uses""#
        ),
    ])
    func `each fault of a use is reported with its position`(members: String, expected: String) {
        #expect(read(members).problems == [expected])
    }
}
