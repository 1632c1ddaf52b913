// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import amplitude
@testable internal import bugsnag
@testable internal import influxdb
@testable internal import mixpanel
@testable internal import posthog
@testable internal import rollbar
@testable internal import segment
@testable internal import sentry

/// A repeated delivery carries the same identifier, so that a vendor that has it already drops it.
@Suite struct DeduplicationTests {
    private let id = "0f8fad5b-d9cb-469f-a165-70867728950e"
    private let endpoint: JSONValue = "http://vendor.example"
    private let clock = StoppedClock()

    /// The first attempt fails, and time passes before the second one.
    private func attempts(
        _ accepted: (Int, String),
        _ deliver: (Host) async throws -> Void
    ) async throws -> [HTTPRequest] {
        let http = ScriptedHTTP((503, ""), accepted)
        let host = Host.scripted(http, clock: clock)
        let error = await #expect(throws: PluginError.self) { try await deliver(host) }
        #expect(error?.isRetryable == true)
        try await clock.sleep(for: .seconds(90))
        try await deliver(host)
        try #require(http.requests.count == 2)
        return http.requests
    }

    private var event: JSONValue {
        ["event": "Order", "userId": "u", "messageId": .string(id), "timestamp": "2026-01-31T09:29:59.5Z"]
    }

    private var report: JSONValue { ["id": .string(id), "exceptions": [["type": "A"]]] }

    @Test func `Segment's key is messageId`() async throws {
        let requests = try await attempts((200, #"{"success":true}"#)) { host in
            let fields: JSONObject = ["endpoint": endpoint, "writeKey": ""]
            try await Segment(configuration: PluginConfiguration(fields), host: host).track(event: event)
        }
        for request in requests { #expect(request.jsonBody["batch"]?[0]?["messageId"] == .string(id)) }
    }

    @Test func `PostHog's key is uuid`() async throws {
        let requests = try await attempts((200, #"{"status":1}"#)) { host in
            let fields: JSONObject = ["endpoint": endpoint, "apiKey": "", "groupType": "company"]
            try await PostHog(configuration: PluginConfiguration(fields), host: host).track(event: event)
        }
        for request in requests { #expect(request.jsonBody["batch"]?[0]?["uuid"] == .string(id)) }
    }

    @Test func `Amplitude's key is insert_id`() async throws {
        let requests = try await attempts((200, #"{"code":200,"events_ingested":1}"#)) { host in
            let fields: JSONObject = ["endpoint": endpoint, "apiKey": "", "groupType": "company", "minIdLength": 1]
            try await Amplitude(configuration: PluginConfiguration(fields), host: host).track(event: event)
        }
        for request in requests { #expect(request.jsonBody["events"]?[0]?["insert_id"] == .string(id)) }
    }

    @Test func `Mixpanel's key is $insert_id`() async throws {
        let requests = try await attempts((200, #"{"code":200,"num_records_imported":1}"#)) { host in
            let fields: JSONObject = ["endpoint": endpoint, "token": "", "groupKey": "company"]
            try await Mixpanel(configuration: PluginConfiguration(fields), host: host).track(event: event)
        }
        for request in requests { #expect(request.jsonBody[0]?["properties"]?["$insert_id"] == .string(id)) }
    }

    @Test func `Rollbar's key is uuid`() async throws {
        let requests = try await attempts((200, #"{"err":0,"result":{}}"#)) { host in
            let fields: JSONObject = [
                "endpoint": endpoint, "accessToken": "", "environment": "test", "platform": "linux",
            ]
            _ = try await Rollbar(configuration: PluginConfiguration(fields), host: host).exception(report: report)
        }
        for request in requests { #expect(request.jsonBody["data"]?["uuid"] == .string(id)) }
    }

    /// Of two points with the same measurement, tags and time the second replaces the first.
    @Test func `InfluxDB's key is the point, by its measurement, its tags and its time`() async throws {
        let requests = try await attempts((204, "")) { host in
            let fields: JSONObject = ["endpoint": endpoint, "database": "d"]
            try await InfluxDB(configuration: PluginConfiguration(fields), host: host).track(event: event)
        }
        #expect(requests[0].text == requests[1].text)
        #expect(requests[0].text.contains(#"messageId="\#(id)""#))
    }

    @Test func `Sentry's key is event_id, in the envelope and in the event`() async throws {
        let requests = try await attempts((200, #"{"id":"x"}"#)) { host in
            let fields: JSONObject = ["dsn": "http://key@vendor.example/7", "environment": "test"]
            _ = try await Sentry(configuration: PluginConfiguration(fields), host: host).exception(report: report)
        }
        for request in requests {
            let lines = request.body.split(separator: UInt8(ascii: "\n"))
            let ids = try [lines[0], lines[2]].map { try JSONValue(parsing: Array($0))["event_id"] }
            #expect(ids == Array(repeating: .string(id.filter { $0 != "-" }), count: 2))
        }
    }

    /// Bugsnag has no key of its own; the identifier stands among the metadata, where a person can recognize duplicates.
    @Test func `Bugsnag gets the report's id among the metadata`() async throws {
        let requests = try await attempts((202, "")) { host in
            let fields: JSONObject = ["endpoint": endpoint, "apiKey": "", "environment": "test"]
            _ = try await Bugsnag(configuration: PluginConfiguration(fields), host: host).exception(report: report)
        }
        for request in requests {
            let metadata = request.jsonBody["events"]?[0]?["metaData"]
            #expect(metadata?["report"]?["id"] == .string(id.filter { $0 != "-" }))
        }
    }
}
