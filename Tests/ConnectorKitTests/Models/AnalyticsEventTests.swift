// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

/// The canonical event.
@Suite struct AnalyticsEventTests {
    @Test(arguments: [
        #"{"type":"track","messageId":"m","timestamp":"2026-01-31T09:30:00.250Z","userId":"u","event":"E","properties":{"a":1}}"#,
        #"{"type":"identify","messageId":"m","anonymousId":"a","traits":{"email":"e"},"context":{"ip":"1.2.3.4"}}"#,
        #"{"type":"group","messageId":"m","userId":"u","groupId":"g"}"#,
        #"{"type":"track","messageId":"m","timestamp":"2026-01-31T09:30:00.250001Z","userId":"u","event":"E"}"#,
        #"{"type":"track","messageId":"m","timestamp":"2026-01-31T09:30:00.123456789Z","userId":"u","event":"E"}"#,
        #"{"type":"alias","messageId":"m","userId":"u","previousId":"p"}"#,
        #"{"type":"page","messageId":"m","userId":"u","name":"Home","category":"c"}"#,
    ])
    func `an event is read and written without loss`(_ text: String) throws {
        let json = try JSONValue(parsing: text)
        #expect(try AnalyticsEvent(json: json).json == json)
    }

    @Test(arguments: [
        (#"[]"#, "event must be an object, not an array"),
        (#"{}"#, "event.type is missing"),
        (#"{"type":"click"}"#, "event.type must be one of track"),
        (#"{"type":"track","userId":"u"}"#, "event.event is missing"),
        (#"{"type":"track","event":"E"}"#, "event.userId or event.anonymousId"),
        (#"{"type":"track","event":"E","userId":""}"#, "event.userId or event.anonymousId"),
        (#"{"type":"track","event":"E","userId":7}"#, "event.userId must be a string, not 7"),
        (#"{"type":"track","event":"E","userId":"u","properties":[]}"#, "event.properties must be an object"),
        (#"{"type":"track","event":"E","userId":"u","timestamp":"yesterday"}"#, "event.timestamp must be a time"),
        (
            #"{"type":"track","event":"E","userId":"u","timestamp":"1960-01-01T00:00:00Z"}"#,
            "event.timestamp must be a time from 1970 to 2500"
        ),
        (#"{"type":"track","event":"E","userId":"u","messageId":""}"#, "event.messageId"),
        (#"{"type":"group","userId":"u"}"#, "event.groupId is missing"),
        (#"{"type":"alias","userId":"u"}"#, "event.previousId is missing"),
        (#"{"type":"alias","previousId":"u","anonymousId":"a"}"#, "event.userId is missing"),
    ])
    func `an event without a member that its type needs is refused with its name`(_ text: String, _ expected: String)
        throws
    {
        let json = try JSONValue(parsing: text)
        let error = #expect(throws: ConnectorError.self) { try AnalyticsEvent(json: json) }
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    /// Objects in each other.
    private func nested(_ levels: Int) -> JSONObject {
        (1..<levels).reduce(JSONObject()) { inner, _ in ["a": .object(inner)] }
    }

    @Test func `an event that nests too deeply is refused, and one level less can be read again`() throws {
        var event = AnalyticsEvent.track("E", nested(JSONParser.depthLimit - 1), userId: "u")
        try event.check()
        #expect(try AnalyticsEvent(json: JSONValue(parsing: event.json.utf8())) == event)
        let deep = nested(JSONParser.depthLimit)
        let members: [(String, WritableKeyPath<AnalyticsEvent, JSONObject>)] = [
            ("properties", \.properties), ("traits", \.traits), ("context", \.context),
        ]
        for (name, member) in members {
            event = AnalyticsEvent.track("E", userId: "u")
            event[keyPath: member] = deep
            let refused = event
            let error = #expect(throws: ConnectorError.self) { try refused.check() }
            #expect(error?.code == .invalid)
            #expect(error?.message == "event.\(name) makes the event nest deeper than 128 levels")
        }
    }

    @Test func `an event of a time that could not be read again is refused`() throws {
        var event = AnalyticsEvent.track("E", userId: "u")
        let last = try #require(Timestamp(parsing: "2500-12-31T23:59:59.999Z"))
        event.timestamp = last
        try event.check()
        #expect(try AnalyticsEvent(json: event.json) == event)
        for nanoseconds in [last.nanoseconds + 1_000_000, .max] {
            event.timestamp = Timestamp(nanoseconds: nanoseconds)
            let refused = event
            let error = #expect(throws: ConnectorError.self) { try refused.check() }
            #expect(error?.code == .invalid && error?.message == "event.timestamp must be a time from 1970 to 2500")
        }
    }

    @Test(arguments: [
        (#"{"All":false,"Mixpanel":true}"#, "event.integrations excludes \"All\""),
        (#"{"All":true,"Google Analytics":false}"#, "event.integrations excludes \"Google Analytics\""),
        ("false", "event.integrations must be an object"), (#"["Mixpanel"]"#, "event.integrations must be an object"),
    ])
    func `an event that may not reach every destination is refused`(_ integrations: String, _ expected: String) throws {
        let text = #"{"type":"track","userId":"u","event":"E","integrations":\#(integrations)}"#
        let json = try JSONValue(parsing: text)
        let error = #expect(throws: ConnectorError.self) { try AnalyticsEvent(json: json) }
        #expect(error?.code == .invalid && error?.message.hasPrefix(expected) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["{}", "null", #"{"All":true}"#, #"{"Amplitude":{"session_id":7}}"#])
    func `an event for every destination is accepted`(_ integrations: String) throws {
        let text = #"{"type":"track","userId":"u","event":"E","integrations":\#(integrations)}"#
        #expect(try AnalyticsEvent(json: JSONValue(parsing: text)).json["integrations"] == nil)
    }

    @Test func `an event without an identifier gets one of its own`() throws {
        let json: JSONValue = ["event": "E", "userId": "u"]
        let first = try AnalyticsEvent(json: json, as: .track)
        let second = try AnalyticsEvent(json: json, as: .track)
        #expect(first.messageId.utf8.count == 36)
        #expect(first.messageId != second.messageId)
    }
}
