// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

/// The paths of files, and the models that have them.
@Suite struct FilePathRuleTests {
    @Test(arguments: ["a", "a/b.txt", "é/🚲", "...", "a b", ".hidden", "a\\b", String(repeating: "x", count: 255)])
    func `a path that keeps the rules is accepted`(_ path: String) throws {
        try FilePathRule.check(path)
    }

    @Test(arguments: [
        ("", "the path is empty"), ("/a", "has an empty segment"), ("a/", "has an empty segment"),
        ("a//b", "has an empty segment"), ("..", "has the segment \"..\""), ("a/./b", "has the segment \".\""),
        ("a\u{0}b", "the path \"a\u{FFFD}b\" has a control character"), ("a\u{85}b", "has a control character"),
        (String(repeating: "x", count: 256), "has a segment of 256 bytes"),
        (String(repeating: "x/", count: 512) + "x", "has 1025 bytes"),
    ])
    func `a path that breaks a rule is refused with the reason`(_ path: String, _ reason: String) {
        let error = #expect(throws: ConnectorError.self) { try FilePathRule.check(path) }
        #expect(error?.code == .invalid && error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.fix != nil)
    }

    @Test func `an upload request has at most one condition, and a valid path and content type`() throws {
        for condition in [.any, .absent, .tag("1")] as [FileCondition] {
            let request = FileUploadRequest("a", contentType: "text/plain", condition: condition)
            #expect(try FileUploadRequest(json: request.json) == request)
        }
        for json in [
            ["path": "a", "ifAbsent": true, "ifTag": "1"], ["path": "a", "ifTag": ""], ["path": "a", "if": 1],
            ["path": "a", "contentType": "text"], ["path": "a", "contentType": "text/plain\r\nx: y"], ["path": "../a"],
            [:],
        ] as [JSONValue] {
            #expect(throws: ConnectorError.self, "\(json)") { try FileUploadRequest(json: json) }
        }
    }

    @Test func `an entry and a page say what breaks their rules`() throws {
        let entry = FileEntry(path: "a", size: 1, modified: Timestamp(nanoseconds: 0), tag: "t")
        #expect(try FileEntry(json: entry.json) == entry)
        let page = FilePage(files: [entry], hasMore: true)
        #expect(try FilePage(json: page.json) == page)
        for (json, reason) in [
            (["files": [entry.json, entry.json]], "after \"a\""), (["hasMore": true], "empty"),
            (["files": [["path": "a", "size": -1]]], "size"), (["files": [["path": "/a"]]], "empty segment"),
        ] as [(JSONValue, String)] {
            let error = #expect(throws: ConnectorError.self) { try FilePage(json: json) }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        }
    }
}
