// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

/// The canonical report.
@Suite struct CrashReportTests {
    @Test func `a report is read and written without loss`() throws {
        let json = try JSONValue(
            parsing: #"""
                {"id":"0123456789abcdef0123456789abcdef","level":"fatal","timestamp":"2026-01-31T09:30:00.123456789Z",
                 "message":"m","handled":false,"tags":{"a":"b"},"user":{"id":"u","email":"e"},"release":"1","environment":"e",
                 "exceptions":[{"type":"A","message":"a","frames":[{"function":"f","file":"F.swift","line":3,"column":1},
                   {"address":"0x1","inApplication":false}]},{"type":"B"}],
                 "breadcrumbs":[{"message":"tap","level":"info","timestamp":"2026-01-31T09:29:59.999999Z","category":"ui",
                     "data":{"x":1}}],
                 "fingerprint":["x"],"context":{"device":{"model":"m"}}}
                """#
        )
        #expect(try CrashReport(json: json, as: .exception).json == json)
    }

    @Test(arguments: [
        (#"{}"#, "report.exceptions or report.message must be given"),
        (#"{"message":""}"#, "report.exceptions or report.message must be given"),
        (#"{"message":"m","level":"bad"}"#, "report.level must be one of fatal"),
        (#"{"message":"m","id":"x"}"#, "report.id must be a UUID"),
        (#"{"message":"m","tags":{"a":1}}"#, "report.tags.a must be a string, not an integer"),
        (#"{"exceptions":[{}]}"#, "report.exceptions[0].type is missing"),
        (#"{"exceptions":[{"type":"A","frames":[{}]}]}"#, "report.exceptions[0].frames[0] names no function"),
        (#"{"exceptions":[{"type":"A","frames":[{"function":"f","line":-1}]}]}"#, "frames[0].line must be an integer"),
        (#"{"message":"m","breadcrumbs":[{}]}"#, "report.breadcrumbs[0].message is missing"),
        (#"{"message":"m","user":1}"#, "report.user must be an object"),
    ])
    func `an invalid report is refused with the member's name`(_ text: String, _ expected: String) throws {
        let json = try JSONValue(parsing: text)
        let error = #expect(throws: ConnectorError.self) { try CrashReport(json: json) }
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    @Test func `a report that nests too deeply is refused, and one level less can be read again`() throws {
        var report = CrashReport(level: .error, message: "m")
        report.context = (2..<JSONParser.depthLimit).reduce(JSONObject()) { inner, _ in ["a": .object(inner)] }
        try report.check()
        #expect(try CrashReport(json: JSONValue(parsing: report.json.utf8())) == report)
        report.context = ["a": .object(report.context)]
        let refused = report
        let error = #expect(throws: ConnectorError.self) { try refused.check() }
        #expect(error?.code == .invalid && error?.message == "report is nested deeper than 128 levels")
    }

    @Test func `an operation demands its own kind of report`() {
        #expect(throws: ConnectorError.self) { try CrashReport(json: ["message": "m"], as: .exception) }
        #expect(throws: ConnectorError.self) { try CrashReport(json: ["exceptions": [["type": "A"]]], as: .message) }
    }
}
