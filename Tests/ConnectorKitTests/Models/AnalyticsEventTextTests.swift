// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

/// Events that are passed on as they arrived.
@Suite struct AnalyticsEventTextTests {
    private static let time = #""messageId":"m","timestamp":"2026-01-31T09:30:00.250Z""#

    @Test(arguments: [
        #"{"type":"track",\#(time),"userId":"u","event":"E","properties":{"a":1}}"#,
        #"{"type":"identify",\#(time),"anonymousId":"a","traits":{"email":"e"},"context":{"ip":"1.2.3.4"}}"#,
        #"{"type":"group",\#(time),"userId":"u","groupId":"g"}"#,
        #"{"type":"alias",\#(time),"userId":"u","previousId":"p"}"#,
        #"{"type":"page",\#(time),"userId":"u","name":"Home","category":"c"}"#,
    ])
    func `a complete event is passed on as its own text`(_ text: String) throws {
        let event = try AnalyticsEvent(json: JSONValue(parsing: text))
        #expect(try JSONValue(parsing: text) == event.json)
        #expect(event.utf8() == event.json.utf8())
        let batch = AnalyticsEvent.utf8([event, event])
        let texts = try #require(AnalyticsEventText.events(of: batch))
        for text in texts {
            var filled = event
            filled.context["library"] = [:]
            #expect(try JSONValue(parsing: text.utf8(filling: "library", with: "{}")) == filled.json)
            #expect(text.size(filling: "library", with: "{}") == text.utf8(filling: "library", with: "{}").count)
        }
        #expect(texts.count == 2)
    }

    @Test(arguments: [
        #""context":{"library":{"name":"x"}}"#, #""context":{"a":1,"library":null}"#,
    ])
    func `a member that the context has is not filled in`(_ context: String) throws {
        let text = #"{"type":"track",\#(Self.time),"userId":"u","event":"E",\#(context)}"#
        let event = try #require(AnalyticsEventText.events(of: Array("[\(text)]".utf8))?.first)
        #expect(String(decoding: event.utf8(filling: "library", with: "{}"), as: UTF8.self) == text)
        #expect(event.size(filling: "library", with: "{}") == text.utf8.count)
    }

    @Test(arguments: [
        #"{"type":"track","messageId":"m","userId":"u","event":"E"}"#,
        #"{"type":"track","timestamp":"2026-01-31T09:30:00.250Z","userId":"u","event":"E"}"#,
        #"{"type":"track","messageId":"","timestamp":"2026-01-31T09:30:00.250Z","userId":"u","event":"E"}"#,
        #"{"type":"track","messageId":"m","timestamp":"2026-02-31T09:30:00.250Z","userId":"u","event":"E"}"#,
        #"{"type":"track","messageId":"m","timestamp":"2026-01-31T09:30:00+01:00","userId":"u","event":"E"}"#,
        #"{"type":"track","messageId":"m","timestamp":"2026-01-31T09:30:00.250001Z","userId":"u","event":"E"}"#,
        #"{"type":"track","messageId":7,"timestamp":"2026-01-31T09:30:00.250Z","userId":"u","event":"E"}"#,
        #"{\#(time),"userId":"u","event":"E"}"#, #"{"type":"click",\#(time),"userId":"u","event":"E"}"#,
        #"{"type":"track",\#(time),"userId":"u"}"#, #"{"type":"track",\#(time),"event":"E"}"#,
        #"{"type":"track",\#(time),"userId":"","anonymousId":"a","event":"E"}"#,
        #"{"type":"track",\#(time),"userId":7,"event":"E"}"#, #"{"type":"track",\#(time),"userId":null,"event":"E"}"#,
        #"{"type":"track",\#(time),"userId":"u","event":"E","properties":[]}"#,
        #"{"type":"track",\#(time),"userId":"u","event":"E","context":"x"}"#,
        #"{"type":"track",\#(time),"userId":"u","event":"E","integrations":{}}"#,
        #"{"type":"track",\#(time),"userId":"u","userId":"v","event":"E"}"#,
        #"{"type":"group",\#(time),"userId":"u","groupId":""}"#, #"{"type":"alias",\#(time),"userId":"u"}"#,
        #"{"type":"alias",\#(time),"previousId":"u","anonymousId":"a"}"#, "7", "[]",
    ])
    func `any other event is left to the model`(_ text: String) {
        #expect(AnalyticsEventText.events(of: Array("[\(text)]".utf8)) == nil)
    }

    @Test func `an event with every member is written as its JSON`() {
        var event = AnalyticsEvent(.page, userId: "ü\n", anonymousId: "\"\\")
        (event.event, event.name, event.category, event.groupId, event.previousId) = ("e", "n", "c", "g", "p")
        event.timestamp = Timestamp(nanoseconds: 1_234_567_890_123_456_789)
        (event.properties, event.traits, event.context) = (["a": [1, 2.5, nil]], ["b": "\u{1}"], ["c": ["d": true]])
        #expect(event.utf8() == event.json.utf8())
    }

    @Test func `answers are written and read alike, accepted or not`() throws {
        let mixed = [DeliveryAnswer.accepted, .rejected("no"), .retry("later", after: .seconds(2)), .accepted(id: "7")]
        for answers in [[], [.accepted], [.accepted, .accepted, .accepted], mixed] as [[DeliveryAnswer]] {
            let text = DeliveryAnswer.text(of: answers)
            #expect(text == JSONValue.array(answers.map(\.json)).utf8())
            #expect(try DeliveryAnswer.answers(text: text, count: answers.count) == answers)
            #expect(throws: ConnectorError.self) { try DeliveryAnswer.answers(text: text, count: answers.count + 1) }
        }
        let spaced = Array(#"[ {"outcome": "accepted"} ]"#.utf8)
        #expect(try DeliveryAnswer.answers(text: spaced, count: 1) == [.accepted])
    }

    @Test(arguments: ["sk_live_51habc9x7q2m8zk4w0pd", "crashed", ""])
    func `a code that no plugin can have is a failure without a name`(code: String) throws {
        let text = #"[{"outcome":"retry","code":"\#(code)"}]"#
        #expect(try DeliveryAnswer.answers(text: Array(text.utf8), count: 1).first?.code == .failed)
    }

    @Test(arguments: [#"[{"outcome":"done"}]"#, "[{}]", "[1]", #"[{"outcome":"retry","retryAfter":-1}]"#, "[]", "{}"])
    func `unreadable answers break the protocol, and are not an event's fault`(_ text: String) {
        let error = #expect(throws: ConnectorError.self) {
            try DeliveryAnswer.answers(text: Array(text.utf8), count: 1)
        }
        #expect(error?.code == .protocolViolation)
    }
}
