// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import bugsnag

/// The adapter of Bugsnag.
@Suite struct BugsnagTests {
    private func bugsnag(_ http: ScriptedHTTP) throws -> Bugsnag {
        try Bugsnag(
            configuration: PluginConfiguration(json: [
                "endpoint": "http://vendor.example", "apiKey": "{{secret:apiKey}}", "environment": "test",
            ]),
            host: .scripted(http)
        )
    }

    @Test func `an event has the exceptions newest first, and the key is the only placeholder`() async throws {
        let http = ScriptedHTTP((202, ""))
        _ = try await bugsnag(http).exception(
            report: [
                "exceptions": [
                    [
                        "type": "Top", "message": "{{secret:apiKey}}",
                        "frames": [["function": "f", "file": "F", "line": 3]],
                    ],
                    ["type": "Root"],
                ],
                "handled": false, "level": "fatal", "tags": ["a": "b"], "context": ["device": ["m": 1], "n": 2],
            ]
        )
        let request = try #require(http.requests.first)
        #expect(request.headers["Bugsnag-Api-Key"] == "{{secret:apiKey}}")
        #expect(request.headers["Bugsnag-Payload-Version"] == "4.0")
        #expect(request.text.ranges(of: "{{").count == 1)
        let event = try #require(request.jsonBody["events"]?[0])
        #expect(event["exceptions"]?.array?.map { $0["errorClass"] } == ["Top", "Root"])
        #expect(event["exceptions"]?[0]?["stacktrace"]?[0]?["lineNumber"] == 3)
        #expect(event["unhandled"] == true)
        #expect(event["severity"] == "error")
        #expect(event["metaData"]?["n"]?["value"] == 2)
    }

    @Test func `what the application names as the adapter does is kept under another name`() throws {
        let report = try CrashReport(json: [
            "message": "m", "environment": "", "release": "", "tags": ["a": "b"],
            "context": ["tags": ["x": 1], "report": 7],
            "breadcrumbs": [["message": "b", "category": "c", "data": ["level": 1, "category": 2]]],
        ])
        let events = BugsnagEvents(environment: "test", release: "1.0")
        let event = try JSONValue(parsing: events.encode(report, now: Timestamp(nanoseconds: 0)))
        let metadata = try #require(event["metaData"])
        #expect(metadata["tags"] == ["a": "b"] && metadata["tags_"] == ["x": 1] && metadata["report_"] == ["value": 7])
        #expect(metadata["report"]?["id"] == .string(report.id))
        let crumb = try #require(event["breadcrumbs"]?[0]?["metaData"])
        #expect(crumb["category"] == "c" && crumb["category_"] == 2 && crumb["level_"] == 1)
        #expect(crumb["level"]?.string?.isEmpty == false)
        #expect(event["app"] == ["releaseStage": "test", "version": "1.0"])
    }

    @Test(arguments: [402, 407, 408, 429, 500, 503])
    func `a report that Bugsnag could not take is tried again`(_ status: Int) async throws {
        let answers = try await bugsnag(ScriptedHTTP((status, ""))).deliver([CrashReport(level: .info, message: "m")])
        #expect(answers.map(\.outcome) == [.retry])
    }

    @Test func `a report that Bugsnag drops is rejected in its words`() async throws {
        let http = ScriptedHTTP((400, #"{"errors":["no exceptions"]}"#))
        let answers = try await bugsnag(http).deliver([CrashReport(level: .info, message: "m")])
        #expect(answers.first?.outcome == .rejected)
        #expect(answers.first?.reason?.hasSuffix("no exceptions") == true)
    }

    @Test func `a request without events proves the key where another one is refused`() async throws {
        #expect(
            try await bugsnag(ScriptedHTTP((200, ""), (401, ""))).open().map(\.kind) == [.reachable, .authenticated]
        )
        #expect(try await bugsnag(ScriptedHTTP((200, ""), (200, ""))).open().map(\.kind) == [.reachable])
    }
}
