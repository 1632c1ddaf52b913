// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorManifest

/// Words for members that a model knows, and arguments as words.
@Suite struct ArgumentWordTests {
    private func reader(_ capability: String, _ operation: String) throws -> ArgumentReader {
        let id = try #require(CapabilityID(capability))
        let definition = try #require(CapabilityDefinition.standard(id)?.operations.first { $0.name == operation })
        let signature = try Signature(parsing: definition.signature)
        return ArgumentReader(
            Operation(name: operation, symbol: "s", signature: signature, documentation: ""),
            of: id
        )
    }

    @Test func `a word for a member that its model declares as text is taken as it is`() throws {
        let reader = try reader("analytics/1", "track")
        let arguments = try reader.arguments([
            "event=12", "userId=007", "properties={\"total\": 9.5}", "messageId=null",
        ])
        #expect(
            arguments == ["event": ["event": "12", "userId": "007", "properties": ["total": 9.5], "messageId": "null"]]
        )
        // Quotation marks, as they always had to be written, still work.
        #expect(
            try reader.arguments(["event=\"Order\"", "userId=\"u1\""]) == ["event": ["event": "Order", "userId": "u1"]]
        )
        #expect(
            try self.reader("geocoder/1", "geocode").arguments(["query=8001", "limit=3"])["request"] == [
                "query": "8001", "limit": 3,
            ]
        )
    }

    @Test(arguments: [
        ("analytics/1", "track", "propertys={}", "did you mean \"properties\"?"),
        ("crash/1", "message", "levle=info", "did you mean \"level\"?"),
        ("geocoder/1", "geocode", "limmit=1", "did you mean \"limit\"?"),
    ])
    func `a word for a member that its model does not have is refused, with a suggestion`(
        _ capability: String,
        _ operation: String,
        _ word: String,
        _ suggestion: String
    ) throws {
        let reader = try reader(capability, operation)
        let error = try #require(throws: ConnectorError.self) { try reader.arguments([word]) }
        #expect(error.code == .invalid)
        let name = word.prefix { $0 != "=" }
        #expect(error.message == "\(operation) has no member \"\(name)\"; \(suggestion)")
    }

    @Test(arguments: [
        ("geocoder/1", "geocode", "foo", "(request: json) async -> json, or name a member: query=foo"),
        ("geocoder/1", "geocode", "Bundesplatz 3", "(request: json) async -> json, or name a member: query=…"),
        ("geocoder/1", "reverse", "foo", "(request: json) async -> json, or name a member: latitude=…"),
        ("analytics/1", "track", "Seen", "(event: json) async, or name a member: event=Seen"),
        ("settings/1", "change", "theme", "(changes: json) async"),
    ])
    func `a word that is not JSON, for a parameter with a model, may lack its name`(
        _ capability: String,
        _ operation: String,
        _ word: String,
        _ advice: String
    ) throws {
        let reader = try reader(capability, operation)
        let error = try #require(throws: ConnectorError.self) { try reader.arguments([word]) }
        #expect(error.fix == "call it as \(operation)\(advice)")
    }

    /// Arguments, and how a person would write them.
    static let words: [(capability: String, operation: String, arguments: JSONObject, words: [String])] = [
        ("geocoder/1", "geocode", ["request": ["query": "Bern", "limit": 1]], ["query=Bern", "limit=1"]),
        ("geocoder/1", "geocode", ["request": ["query": "1"]], ["query=1"]),
        ("geocoder/1", "geocode", ["request": ["query": "\"x\""]], [#"query="\"x\"""#]),
        ("geocoder/1", "geocode", ["request": [:]], ["request={}"]),
        ("analytics/1", "track", ["event": ["event": "Seen", "userId": "u1"]], ["event=Seen", "userId=u1"]),
        ("analytics/1", "track", ["event": ["event": ["a": 1]]], [#"event={"event":{"a":1}}"#]),
        ("analytics/1", "track", ["event": ["a b": 1]], [#"event={"a b":1}"#]),
        ("analytics/1", "track", ["event": ["=": "=", "x": .null]], [#"event={"=":"=","x":null}"#]),
        (
            "database/1", "create", ["collection": "{notes}", "record": ["collection": "x"]],
            ["collection={notes}", #"record={"collection":"x"}"#]
        ),
        ("database/1", "get", ["collection": "a=b", "id": "-1"], ["collection=a=b", "id=-1"]),
        ("database/1", "query", ["collection": "n", "query": ["limit": 2]], ["collection=n", "limit=2"]),
        ("settings/1", "set", ["key": "volume", "value": 5], ["key=volume", "value=5"]),
        ("settings/1", "set", ["key": "volume", "value": "5"], ["key=volume", #"value="5""#]),
        ("settings/1", "change", ["changes": ["theme": "dark", "a": 1]], ["theme=dark", "a=1"]),
    ]

    @Test func `a parameter that takes any value takes a word that is not JSON as text`() throws {
        let reader = try reader("settings/1", "set")
        #expect(try reader.arguments(["key=theme", "value=dark"]) == ["key": "theme", "value": "dark"])
        #expect(try reader.arguments(["theme", "{\"a\": 1}"]) == ["key": "theme", "value": ["a": 1]])
    }

    @Test(arguments: [
        ("settings/1", "set", ["theme", "value={\"a\": 1"], "set, value: \"{\"a\": 1\" is not JSON at 1:8:"),
        ("settings/1", "change", ["theme=[1,"], "change, theme: \"[1,\" is not JSON at 1:4:"),
        ("database/1", "create", ["notes", "record={\"t\":1"], "create, record: \"{\"t\":1\" is not JSON at 1:7:"),
        ("database/1", "create", ["notes", "t= {1}"], "create, t: \" {1}\" is not JSON at 1:3:"),
        (
            "analytics/1", "track", ["event={\"event\": \"Seen\""],
            "track, event: \"{\"event\": \"Seen\"\" is not JSON at 1:17:"
        ),
    ])
    func `a word that begins as an object or an array and is none is refused, with the place of the mistake`(
        _ capability: String,
        _ operation: String,
        _ words: [String],
        _ message: String
    ) throws {
        let reader = try reader(capability, operation)
        let error = try #require(throws: ConnectorError.self) { try reader.arguments(words) }
        #expect(error.code == .invalid)
        #expect(error.message.hasPrefix(message), "\(error.message)")
    }

    @Test func `a word that is nested too deeply is refused, and no text`() throws {
        let reader = try reader("settings/1", "set")
        let deep = String(repeating: "[", count: 130) + String(repeating: "]", count: 130)
        let error = try #require(throws: ConnectorError.self) { try reader.arguments(["theme", deep]) }
        #expect(error.message.hasSuffix("is not JSON at 1:129: nested deeper than 128 levels"), "\(error.message)")
        // In quotation marks, it is.
        #expect(try reader.arguments(["theme", "\"[draft]\""]) == ["key": "theme", "value": "[draft]"])
    }

    @Test(arguments: words.indices) func `arguments become words that are read back as the same arguments`(_ index: Int)
        throws
    {
        let (capability, operation, arguments, words) = Self.words[index]
        let reader = try reader(capability, operation)
        #expect(reader.words(for: arguments) == words)
        #expect(try reader.arguments(words) == arguments)
    }

    @Test func `arguments that no words can express have none`() throws {
        let reader = try reader("geocoder/1", "geocode")
        #expect(reader.words(for: ["nothing": 1]) == nil)
        let text = try ArgumentReader(taking: "(a: cstring)")
        #expect(text.words(for: ["a": "x"]) == ["a=x"])
        // Words end at a NUL; JSON has an escape for it.
        #expect(text.words(for: ["a": "\0"]) == [#"{"a":"\u0000"}"#])
    }

    @Test func `a scalar for the only parameter that takes JSON stands alone`() throws {
        let reader = try ArgumentReader(taking: "(value: json)")
        #expect(reader.words(for: ["value": 5]) == ["5"])
        #expect(try reader.arguments(["5"]) == ["value": 5])
    }
}
