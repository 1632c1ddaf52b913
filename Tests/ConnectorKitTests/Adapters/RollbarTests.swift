// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import rollbar

/// The adapter of Rollbar.
@Suite struct RollbarTests {
    private func rollbar(_ http: ScriptedHTTP) throws -> Rollbar {
        try Rollbar(
            configuration: PluginConfiguration(json: [
                "endpoint": "http://vendor.example", "accessToken": "{{secret:accessToken}}", "environment": "test",
                "platform": "ios", "release": "1.0",
            ]),
            host: .scripted(http)
        )
    }

    private static let taken = (200, #"{"err":0,"result":{"id":null,"uuid":"u"}}"#)

    @Test func `an exception is a chain of traces, whose innermost frame is the last`() async throws {
        let http = ScriptedHTTP(Self.taken)
        _ = try await rollbar(http).exception(
            report: [
                "id": "0f8fad5bd9cb469fa16570867728950e", "level": "fatal", "handled": false,
                "exceptions": [
                    [
                        "type": "Top", "message": "m",
                        "frames": [["function": "f", "file": "F", "line": 3], ["module": "M"]],
                    ],
                    ["type": "Root"],
                ],
                "breadcrumbs": [["message": "b", "level": "warning"]], "tags": ["a": "b"], "user": ["id": "u"],
                "context": ["device": ["m": 1]], "fingerprint": ["x", "y"],
            ]
        )
        let request = try #require(http.requests.first)
        #expect(request.url.description == "http://vendor.example/api/1/item/")
        #expect(request.headers["X-Rollbar-Access-Token"] == "{{secret:accessToken}}" && !request.hasPlaceholdersInBody)
        let data = try #require(request.jsonBody["data"])
        #expect(data["uuid"] == "0f8fad5b-d9cb-469f-a165-70867728950e")
        #expect(data["level"] == "critical" && data["environment"] == "test" && data["code_version"] == "1.0")
        #expect(data["platform"] == "ios" && data["fingerprint"] == "x/y" && data["person"] == ["id": "u"])
        let chain = try #require(data["body"]?["trace_chain"]?.array)
        #expect(chain.map { $0["exception"]?["class"] } == ["Top", "Root"])
        #expect(chain[0]["frames"]?.array?.map { $0["filename"] } == ["M", "F"])
        #expect(data["body"]?["telemetry"]?[0]?["body"]?["message"] == "b")
        #expect(data["custom"] == ["device": ["m": 1], "tags": ["a": "b"], "unhandled": true])
    }

    @Test func `what the application names as the adapter does is kept under another name`() throws {
        let items = RollbarItems(environment: "test", platform: "linux", release: "1.0")
        let release = String(repeating: "x", count: 41)
        let report = try CrashReport(json: [
            "exceptions": [["type": "E"]], "message": "m", "handled": false, "release": .string(release),
            "environment": "", "tags": ["a": "b"],
            "context": ["tags": ["x": 1], "message": 1, "unhandled": 2, "release": 3],
            "breadcrumbs": [
                ["message": "b", "category": "c", "data": ["message": 1, "category": 2, "category_": 3]]
            ],
        ])
        let data = try JSONValue(parsing: items.encode(report, now: Timestamp(nanoseconds: 0)))
        #expect(
            data["custom"] == [
                "tags": ["a": "b"], "message": "m", "unhandled": true, "release": .string(release), "tags_": ["x": 1],
                "message_": 1, "unhandled_": 2, "release_": 3,
            ]
        )
        #expect(
            data["body"]?["telemetry"]?[0]?["body"]
                == ["message": "b", "category": "c", "message_": 1, "category_": 3, "category__": 2]
        )
        #expect(data["environment"] == "test")
    }

    @Test func `the id of a person that is too long for Rollbar becomes a UUID, always the same`() async throws {
        func person(_ id: String) throws -> String? {
            let items = RollbarItems(environment: "test", platform: "linux", release: nil)
            let report = try CrashReport(json: ["level": "info", "message": "m", "user": ["id": .string(id)]])
            let data = try JSONValue(parsing: items.encode(report, now: Timestamp(nanoseconds: 0)))
            return data["person"]?["id"]?.string
        }
        let long = String(repeating: "x", count: 41)
        #expect(try person(String(long.dropLast())) == String(long.dropLast()))
        #expect(try person(long)?.utf8.count == 36 && person(long) == person(long))
        // To Swift, this is one character.
        #expect(try person("e" + String(repeating: "\u{301}", count: 40))?.utf8.count == 36)
    }

    @Test(arguments: [nil, ""])
    func `a person without an id gets one, made from the email address or else the name`(_ id: String?) throws {
        let items = RollbarItems(environment: "test", platform: "linux", release: nil)
        for (user, source) in [
            (CrashUser(id: id, email: "a@b.c", name: "N"), "a@b.c"), (CrashUser(id: id, name: "N"), "N"),
        ] {
            var report = CrashReport(level: .info, message: "m")
            report.user = user
            let data = try JSONValue(parsing: items.encode(report, now: Timestamp(nanoseconds: 0)))
            #expect(data["person"]?["id"] == .string(StableUUID.from(source)))
            #expect(data["person"]?["username"] == "N" && data["person"]?["email"]?.string == user.email)
        }
        var nobody = CrashReport(level: .info, message: "m")
        nobody.user = CrashUser(id: id)
        #expect(try JSONValue(parsing: items.encode(nobody, now: Timestamp(nanoseconds: 0)))["person"] == nil)
    }

    @Test func `texts that are too long for Rollbar are cut, and the whole release is kept beside`() throws {
        let items = RollbarItems(environment: "test", platform: "linux", release: nil)
        let long = String(repeating: "x", count: 256)
        let release = "com.example.shop@1.24.0+20260131.abcdef01234"
        let report = try CrashReport(json: [
            "level": "info", "message": "m", "release": .string(release), "environment": .string(long),
            "user": ["id": "u", "name": .string(long), "email": .string(long)],
        ])
        let data = try JSONValue(parsing: items.encode(report, now: Timestamp(nanoseconds: 0)))
        #expect(data["code_version"] == .string(String(release.prefix(40))))
        #expect(data["custom"] == ["release": .string(release)])
        let cut = JSONValue.string(String(long.dropLast()))
        #expect(data["environment"] == cut && data["person"] == ["id": "u", "username": cut, "email": cut])
    }

    @Test func `each report is a request of its own, and a single exception a trace`() async throws {
        let http = ScriptedHTTP(Self.taken, (422, #"{"err":1,"message":"Invalid format"}"#), Self.taken)
        let reports =
            [CrashReport(level: .info, message: "a"), CrashReport(level: .info, message: "b")]
            + [CrashReport(level: .error, exceptions: [CrashException(type: "E")])]
        let answers = try await rollbar(http).deliver(reports)
        #expect(answers.map(\.outcome) == [.accepted, .rejected, .accepted])
        #expect(answers[1].reason == "rollbar answered HTTP 422: Invalid format")
        #expect(http.requests[0].jsonBody["data"]?["body"] == ["message": ["body": "a"]])
        #expect(http.requests[2].jsonBody["data"]?["body"]?["trace"]?["exception"]?["class"] == "E")
    }

    @Test func `the wait after a rate limit is the one that Rollbar states, or a minute`() async throws {
        let headers: HTTPFields = ["X-Rate-Limit-Remaining-Seconds": "7"]
        for (headers, wait) in [
            (headers, Duration.seconds(7)), ([:], .seconds(60)), (["Retry-After": "9"], .seconds(9)),
        ] {
            let http = ScriptedHTTP([.response(HTTPResponse(status: 429, headers: headers))])
            let answers = try await rollbar(http).deliver([CrashReport(level: .info, message: "m")])
            #expect(answers.map(\.retryAfter) == [wait] && answers[0].code == .rateLimited)
        }
    }

    @Test func `an item without content proves the token where another one is refused`() async throws {
        let invalid = (422, #"{"err":1,"message":"Invalid format"}"#)
        let refused = (403, #"{"err":1,"message":"invalid access token"}"#)
        #expect(try await rollbar(ScriptedHTTP(invalid, refused)).open().map(\.kind) == [.reachable, .authenticated])
        #expect(try await rollbar(ScriptedHTTP(invalid, invalid)).open().map(\.kind) == [.reachable])
        let error = await #expect(throws: PluginError.self) { try await rollbar(ScriptedHTTP(refused)).open() }
        #expect(error?.status == .unauthorized && error?.message.hasSuffix("invalid access token") == true)
    }
}
