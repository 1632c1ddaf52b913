// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost

/// The gates that plugins use, as manifests name them and files bind them.
@Suite struct UsesTests {
    private static let manifests: [String: String] = [
        "user": #""uses": {"settings": "settings/1", "store": "things/2"}"#,
        "settings": #""capabilities": {"settings/1": {}}"#,
        "things": #""capabilities": {"things/2": {"get": {"symbol": "s", "signature": "()"}}}"#,
        "both":
            #""capabilities": {"things/2": {"get": {"symbol": "s", "signature": "()"}}}, "uses": {"a": "settings/1"}"#,
        "circle": #""capabilities": {"settings/1": {}}, "uses": {"other": "things/2"}"#,
        "maybe":
            #""capabilities": {"settings/1": {}}, "uses": {"other": {"capability": "things/2", "optional": true}}"#,
        "hub": #""capabilities": {"settings/1": {}}, "uses": {"x": "x/1", "y": "y/1"}"#,
        "x": #""capabilities": {"x/1": {"get": {"symbol": "s", "signature": "()"}}}, "uses": {"other": "things/2"}"#,
        "y": #""capabilities": {"y/1": {"get": {"symbol": "s", "signature": "()"}}}, "uses": {"other": "things/2"}"#,
        "plain": #""documentation": "Uses nothing.""#,
        "next":
            #""uses": {"next": {"capability": "things/2", "optional": true}}, "capabilities": {"things/2": {"get": {"symbol": "s", "signature": "()"}}}"#,
        "may":
            #""uses": {"a": {"capability": "settings/1", "optional": true}}, "capabilities": {"things/2": {"get": {"symbol": "s", "signature": "()"}}}"#,
    ]

    private static func manifest(of plugin: PluginSpecification) -> Result<Manifest, ConnectorError> {
        guard let rest = manifests[plugin.name] else {
            return .failure(ConnectorError(.truncated, "the file ends early"))
        }
        let text =
            #"{"manifest": 1, "id": "\#(plugin.name)", "version": "1.0.0", "abi": [1, 1], "entry": "e", \#(rest)}"#
        return Result { () throws(ConnectorError) in try Manifest(parsing: Array(text.utf8)) }
    }

    /// The plans of some connectors, the first of which stands at 1:31.
    private func plans(_ connectors: String) throws -> [String: Result<ResolvedLeaf, ConnectorError>] {
        let text = #"{"version": 1, "connectors": [\#(connectors)]}"#
        return try Configuration(parsing: text, file: "c.json").resolved(manifest: Self.manifest).leaves
    }

    private func uses(_ path: String, _ connectors: String) throws -> [String] {
        let plan = try #require(plans(connectors)[path]).get()
        return plan.uses.map { "\($0.use.name): \($0.connector)\($0.isAutomatic ? "?" : "")" }
    }

    private func failure(_ path: String, _ connectors: String) throws -> String? {
        guard case .failure(let error)? = try plans(connectors)[path] else { return nil }
        return error.description
    }

    @Test func `a use is bound to what the file names, or to the only one that fits, at any depth`() throws {
        let text = """
            {"name": "u", "plugin": "user", "with": {"settings": "g/b"}},
            {"name": "g", "connectors": [
                {"name": "a", "plugin": "settings"}, {"name": "b", "plugin": "settings"}, {"name": "c", "plugin": "things"}]}
            """
        #expect(try uses("u", text) == ["settings: g/b", "store: g/c?"])
        #expect(try uses("g/a", text) == [])
    }

    @Test func `a use prefers a sibling to a root of the same name, and may name a place or a composite`() throws {
        let text = """
            {"name": "g", "connectors": [
                {"name": "u", "plugin": "user", "with": {"settings": "s", "store": "several"}},
                {"name": "s", "same": "s"}]},
            {"name": "s", "plugin": "settings"},
            {"name": "several", "policy": "first", "connectors": [{"name": "one", "plugin": "things"}]}
            """
        #expect(try uses("g/u", text) == ["settings: g/s", "store: several"])
    }

    @Test func `a gate does not use itself`() throws {
        #expect(
            try failure("c", #"{"name": "c", "plugin": "both"}"#)
                == #"c.json:1:55: c: the plugin both uses settings/1 as "a", but no other connector offers it [missing-value]"#
                + "; add a connector whose plugin offers settings/1"
        )
    }

    @Test(arguments: [
        (
            #"{"name": "u", "plugin": "both", "with": {"b": "s"}}, {"name": "s", "plugin": "settings"}"#,
            #"c.json:1:72: u: the plugin both uses no gate "b" [unknown-key]; did you mean "a"?"#
        ),
        (
            #"{"name": "u", "plugin": "plain", "with": {"b": "s"}}, {"name": "s", "plugin": "settings"}"#,
            #"c.json:1:73: u: the plugin plain uses no gate "b" [unknown-key]; remove it"#
        ),
        (
            #"{"name": "u", "plugin": "both", "with": {"a": "t"}}, {"name": "t", "plugin": "things"}"#,
            #"c.json:1:77: u: "a" needs settings/1, but "t" offers things/2 [unsupported]; connectors that offer it: none"#
        ),
        (
            #"{"name": "u", "plugin": "both", "with": {"a": "s"}}, {"name": "s", "enabled": false, "plugin": "settings"}"#,
            #"c.json:1:77: u: "a" is bound to "s", which is disabled [invalid-value]"#
                + "; enable it, or name a connector that offers settings/1: none"
        ),
        (
            #"{"name": "u", "plugin": "both"}, {"name": "s", "plugin": "settings"}, {"name": "t", "plugin": "settings"}"#,
            #"c.json:1:55: u: the plugin both uses settings/1 as "a", but 2 connectors offer it: s, t [invalid-value]"#
                + #"; write "with": {"a": "s"}"#
        ),
        (
            #"{"name": "u", "plugin": "both"}, {"name": "x", "plugin": "broken"}"#,
            #"c.json:1:55: u: the plugin both uses settings/1 as "a", but no other connector offers it, as far as known: "#
                + "the plugin of x cannot be used [missing-value]; add a connector whose plugin offers settings/1"
        ),
    ])
    func `a use that cannot be bound fails its leaf, with its position and what to do`(text: String, expected: String)
        throws
    {
        #expect(try failure("u", text) == expected)
    }

    @Test func `a use may name a connector whose plugin cannot be used`() throws {
        let text = #"{"name": "u", "plugin": "both", "with": {"a": "x"}}, {"name": "x", "plugin": "broken"}"#
        #expect(try uses("u", text) == ["a: x"])
    }

    @Test func `a circle of automatic bindings fails those in it, and is shown`() throws {
        let text = """
            {"name": "a", "plugin": "both"}, {"name": "b", "plugin": "circle"}, {"name": "c", "plugin": "plain", "after": ["a"]}
            """
        let circle = "connectors wait for each other: a → b → a [dependency-cycle]; bind"
        #expect(
            try failure("a", text) == #"c.json:1:55: a: \#(circle) "a" to another connector in "with""#
        )
        #expect(
            try failure("b", text) == #"c.json:1:88: b: \#(circle) "other" to another connector in "with""#
        )
        #expect(try failure("c", text) == nil)
    }

    @Test func `a circle that an optional binding closes leaves that one unbound, and fails nobody`() throws {
        let text = #"{"name": "a", "plugin": "circle"}, {"name": "b", "plugin": "may"}"#
        #expect(try uses("a", text) == ["other: b?"])
        #expect(try uses("b", text) == [])
    }

    @Test func `of several optional bindings in a circle, none is kept but the one that the file names`() throws {
        let named = #"{"name": "a", "plugin": "maybe", "with": {"other": "b"}}, {"name": "b", "plugin": "may"}"#
        #expect(try uses("a", named) == ["other: b"])
        #expect(try uses("b", named) == [])
        let text = #"{"name": "a", "plugin": "maybe"}, {"name": "b", "plugin": "may"}"#
        for user in ["a", "b"] { #expect(try uses(user, text) == []) }
    }

    @Test func `two circles that one optional binding closes fail nobody`() throws {
        let text = """
            {"name": "first", "plugin": "plain", "after": ["b"]}, {"name": "b", "plugin": "may"},
            {"name": "a", "plugin": "hub"}, {"name": "c", "plugin": "x"}, {"name": "d", "plugin": "y"}
            """
        #expect(try uses("b", text) == [])
        #expect(try uses("a", text) == ["x: c?", "y: d?"])
        for user in ["c", "d"] { #expect(try uses(user, text) == ["other: b?"]) }
    }

    @Test func `a circle through the file's own waits and an automatic binding fails the latter`() throws {
        let text = """
            {"name": "a", "plugin": "both"}, {"name": "b", "plugin": "settings", "after": ["a"]}
            """
        #expect(try failure("a", text)?.contains("a → b → a") == true)
        #expect(try failure("b", text) == nil)
    }

    @Test(arguments: [
        (
            #"{"name": "a", "plugin": "p", "with": {"x": "b"}}, {"name": "b", "plugin": "p", "after": ["a"]}"#,
            #"c.json:1:74: a: connectors wait for each other: a → b → a [dependency-cycle]; remove one of these from "after" or "with""#
        ),
        (
            #"{"name": "a", "plugin": "p", "with": {"x": "a"}}"#,
            "c.json:1:74: a: a connector cannot use itself [dependency-cycle]"
        ),
        (
            #"{"name": "g", "connectors": [{"name": "a", "plugin": "p", "with": {"x": "g"}}]}"#,
            #"c.json:1:103: g/a: a connector cannot use "g", which contains it [dependency-cycle]"#
        ),
        (
            #"{"name": "a", "plugin": "p", "with": {"x": "bb"}}, {"name": "b", "plugin": "p"}"#,
            #"c.json:1:74: a: "with" names "bb", which does not exist [unknown-connector]; did you mean "b"?"#
        ),
        (
            #"{"name": "a", "plugin": "p", "with": {"x": 1}}"#,
            "c.json:1:74: a: with.x must be the path of a connector, not an integer [wrong-type]"
        ),
        (
            #"{"name": "g", "with": {"x": "b"}, "connectors": [{"name": "b", "plugin": "p"}]}"#,
            #"c.json:1:45: g: "with" is for connectors with a plugin only, and this one has child connectors [unknown-key]"#
        ),
        (
            #"{"name": "b", "plugin": "p"}, {"name": "c", "same": "b", "with": {}}"#,
            #"c.json:1:88: c: "with" belongs to "b", of which this is another place [unknown-key]; move it there, or remove it"#
        ),
    ])
    func `a use that is wrong by the file alone is a fault of the file`(connectors: String, expected: String) {
        let error = #expect(throws: ConfigurationErrors.self) {
            try Configuration(parsing: #"{"version": 1, "connectors": [\#(connectors)]}"#, file: "c.json")
        }
        #expect(error?.errors.first?.description == expected)
    }

    @Test func `a place of the composite that contains it is a fault of the file, even where a plugin uses that`()
        throws
    {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        let file = try directory.write(
            "c.json",
            """
            {"version": 1, "connectors": [
              {"name": "a", "plugin": "both", "with": {"a": "g"}},
              {"name": "g", "connectors": [{"name": "x", "same": "g"}]}]}
            """
        )
        let errors = #expect(throws: ConfigurationErrors.self) {
            try Configuration.load(file: file) { _ in Self.manifest }
        }
        #expect(errors?.errors.first?.message.contains(#""same" names "g", which is a composite"#) == true)
    }

    @Test func `connectors in Swift bind their uses too`() throws {
        let configuration = try Configuration(
            connectors: [
                Connector("u", plugin: "both", with: ["a": "t"]), Connector("s", plugin: "settings"),
                Connector("t", plugin: "settings"),
            ]
        )
        let plan = try configuration.resolved(manifest: Self.manifest).leaves["u"]?.get()
        #expect(plan?.uses.map(\.connector) == ["t"])
    }

    @Test
    func `an optional use is bound if it can be, and left alone if nothing offers it or what it names is disabled`()
        throws
    {
        #expect(try uses("u", #"{"name": "u", "plugin": "may"}"#) == [])
        #expect(try uses("u", #"{"name": "u", "plugin": "may"}, {"name": "s", "plugin": "settings"}"#) == ["a: s?"])
        let named = #"{"name": "u", "plugin": "may", "with": {"a": "s"}}, "#
        #expect(try uses("u", named + #"{"name": "s", "plugin": "settings"}"#) == ["a: s"])
        #expect(try uses("u", named + #"{"name": "s", "plugin": "settings", "enabled": false}"#) == [])
        #expect(try failure("u", named + #"{"name": "s", "plugin": "things"}"#)?.contains("offers things/2") == true)
        let two =
            #"{"name": "u", "plugin": "may"}, {"name": "s", "plugin": "settings"}, {"name": "t", "plugin": "settings"}"#
        let fix = #"write "with": {"a": "s"}, or null instead of the name to leave it unbound"#
        let error = try failure("u", two)
        #expect(error?.contains("2 connectors offer it: s, t") == true && error?.hasSuffix(fix) == true)
        let none = two.replacing(#""may"}"#, with: #""may", "with": {"a": null}}"#)
        #expect(try uses("u", none) == [])
    }

    @Test func `a use that the plugin needs cannot be null`() throws {
        let text = #"{"name": "u", "plugin": "both", "with": {"a": null}}, {"name": "s", "plugin": "settings"}"#
        #expect(
            try failure("u", text)
                == #"c.json:1:77: u: "a" is null, but the plugin both needs settings/1 [invalid-value]"#
                + "; name a connector that offers it: s"
        )
        let stranger = #"{"name": "u", "plugin": "plain", "with": {"b": null}}"#
        #expect(try failure("u", stranger)?.contains(#"the plugin plain uses no gate "b""#) == true)
    }

    @Test func `what waits for a leaf is no candidate for what it uses`() throws {
        let chain = """
            {"name": "a", "plugin": "next", "with": {"next": "b"}}, {"name": "b", "plugin": "next", "with": {"next": "c"}},
            {"name": "c", "plugin": "next"}
            """
        #expect(try uses("c", chain) == [])
        #expect(try uses("c", chain + #", {"name": "d", "plugin": "things"}"#) == ["next: d?"])
        let needed = """
            {"name": "a", "plugin": "settings", "after": ["g"]}, {"name": "b", "plugin": "settings", "after": ["g/c"]},
            {"name": "g", "connectors": [{"name": "c", "plugin": "both"}]}
            """
        #expect(
            try failure("g/c", needed)?.hasSuffix(
                #"uses settings/1 as "a", but the 2 connectors that offer it wait for this one: a, b [invalid-value]"#
                    + "; add a connector whose plugin offers settings/1, and does not wait for this one"
            ) == true
        )
        #expect(try uses("g/c", needed + #", {"name": "d", "plugin": "settings"}"#) == ["a: d?"])
    }

    @Test func `a use that stays unbound is so in the values of a configuration, too`() throws {
        var connector = Connector("u", plugin: "may")
        connector.unbound = ["a"]
        let settings = ["s", "t"].map { Connector($0, plugin: "settings") }
        let configuration = try Configuration(connectors: [connector] + settings)
        #expect(try configuration.resolved(manifest: Self.manifest).leaves["u"]?.get().uses.isEmpty == true)
    }

    @Test func `an optional use is left out where it would close a circle`() throws {
        let text = #"{"name": "a", "plugin": "may"}, {"name": "b", "plugin": "circle", "with": {"other": "a"}}"#
        #expect(try uses("a", text) == [])
        #expect(try uses("b", text) == ["other: a"])
    }

    @Test func `uses in an included file have their position there, and reach the connectors of all files`()
        throws
    {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        let main = try directory.write(
            "main.json",
            #"{"version": 1, "include": ["users.json"], "connectors": [{"name": "s", "plugin": "settings"}]}"#
        )
        func include(_ text: String) throws -> [String: Result<ResolvedLeaf, ConnectorError>] {
            try directory.write("users.json", #"{"version": 1, "connectors": [\#(text)]}"#)
            return try Configuration.read(file: main).resolved(manifest: Self.manifest).leaves
        }
        let automatic = try include(#"{"name": "u", "plugin": "both"}"#)
        #expect(try automatic["u"]?.get().uses.map(\.connector) == ["s"])
        let named = try include(#"{"name": "u", "plugin": "both", "with": {"a": "s"}}"#)
        #expect(try named["u"]?.get().uses.map(\.isAutomatic) == [false])
        let wrong = try include(#"{"name": "u", "plugin": "both", "with": {"b": "s"}}"#)
        guard case .failure(let error)? = wrong["u"] else { throw ConnectorError(.failed, "the use was bound") }
        #expect(error.position.map { "\($0)" } == "\(directory.path)/users.json:1:72")
    }

    @Test func `a long chain of uses does not overflow the stack, and many automatic circles end soon`() throws {
        let leaves = (0..<400).map { #"{"name": "a\#($0)", "plugin": "both", "with": {"a": "b"}}"# }
        let circle = #"{"name": "b", "plugin": "circle", "with": {"other": "t"}}, {"name": "t", "plugin": "both"}"#
        let plans = try plans((leaves + [circle]).joined(separator: ","))
        #expect(plans.count == 402)
        guard case .failure(let error)? = plans["t"] else { throw ConnectorError(.failed, "no circle was found") }
        #expect(error.code == .dependencyCycle)
        #expect(try plans["a0"]?.get().uses.map(\.connector) == ["b"])
    }
}
