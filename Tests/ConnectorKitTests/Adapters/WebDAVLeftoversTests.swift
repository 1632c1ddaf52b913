// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import webdav

/// The adapter of WebDAV servers: answers that are lost, and what is removed later.
@Suite struct WebDAVLeftoversTests: WebDAVSuite {
    /// A put of three bytes up to its move, which gets no answer.
    private var lostMove: [ScriptedHTTP.Answer] {
        [
            answer((404, "")), answer((201, "")), answer(there()), answer((207, multistatus(""))), answer((404, "")),
            away,
        ]
    }

    private var away: ScriptedHTTP.Answer { .failure(PluginError(.unavailable, "the server is away")) }

    private func answer(_ answer: (Int, String)) -> ScriptedHTTP.Answer {
        .response(HTTPResponse(status: answer.0, body: Array(answer.1.utf8)))
    }

    /// Begins to put three bytes where there must be no file.
    private func begin(_ http: ScriptedHTTP) async throws -> (WebDAV, String) {
        let webdav = try webdav(NamingHTTP(script: http))
        let upload = try await webdav.createUpload(FileUploadRequest("a", condition: .absent))
        try await webdav.uploadPart([1, 2, 3], of: upload.id, at: 0)
        return (webdav, upload.id)
    }

    @Test func `a file that was moved into place is put, although the answer was lost`() async throws {
        let http = ScriptedHTTP(lostMove + [answer((404, "")), answer(there()), answer(there())])
        let (webdav, id) = try await begin(http)
        #expect(try await webdav.completeUpload(id, size: 3, digest: nil).tag == "1")
        #expect(http.requests.map(\.method).suffix(4) == [.move, .propfind, .propfind, .propfind])
        #expect(http.paths.suffix(3) == [http.paths[1], "/files/a", "/files/a"])
    }

    @Test(arguments: [true, false])
    func `a move whose answer was lost with the server is completed once the server is back`(isMoved: Bool) async throws
    {
        let rest =
            isMoved
            ? [answer(there()), answer((404, "")), answer(there()), answer(there())]
            : [answer((404, "")), answer((201, "")), answer(there())]
        let http = ScriptedHTTP(lostMove + [away] + rest)
        let (webdav, id) = try await begin(http)
        let lost = await failure { _ = try await webdav.completeUpload(id, size: 3, digest: nil) }
        #expect(lost?.message == "the server is away" && lost?.isRetryable == true)
        let late = await failure { try await webdav.uploadPart([4], of: id, at: 1 << 20) }
        #expect(late?.status == .invalid)
        #expect(try await webdav.completeUpload(id, size: 3, digest: nil).tag == "1")
        #expect(http.requests.count { $0.method == .put } == 1 && !http.requests.contains { $0.method == .delete })
        #expect(await failure { _ = try await webdav.completeUpload(id, size: 3, digest: nil) }?.status == .notFound)
    }

    @Test func `a file that another program has put is no lost answer, and what was sent is removed`() async throws {
        let http = ScriptedHTTP(lostMove + [away, answer(there(tag: "2")), answer(there()), answer((204, ""))])
        let (webdav, id) = try await begin(http)
        _ = await failure { _ = try await webdav.completeUpload(id, size: 3, digest: nil) }
        #expect(await failure { _ = try await webdav.completeUpload(id, size: 3, digest: nil) }?.status == .conflict)
        #expect(http.requests.last?.method == .delete && http.paths.last == http.paths[1])
    }

    @Test func `an upload that is aborted after a lost answer removes what was sent`() async throws {
        let http = ScriptedHTTP(lostMove + [away, answer((204, ""))])
        let (webdav, id) = try await begin(http)
        _ = await failure { _ = try await webdav.completeUpload(id, size: 3, digest: nil) }
        try await webdav.abortUpload(id)
        #expect(http.requests.last?.method == .delete && http.paths.last == http.paths[1])
    }

    @Test func `what a server that was away still has is removed when the gate is proved, and never put to again`()
        async throws
    {
        let open = [answer(found("/files/", collection)), answer((401, ""))]
        let failed = [answer((404, "")), away, away]
        let gone = [answer((404, "")), answer((204, "")), answer((404, ""))]
        let http = ScriptedHTTP(failed + failed + open + [answer((503, "")), away] + open + gone + open)
        let (webdav, id) = try await begin(http)
        for _ in 0..<2 {
            let error = await failure { _ = try await webdav.completeUpload(id, size: 3, digest: nil) }
            #expect(error?.status == .unavailable)
        }
        #expect(http.paths[1] == http.paths[2] && http.paths[4] == http.paths[5] && http.paths[1] != http.paths[4])
        for _ in 0..<3 { #expect(try await webdav.open().map(\.kind) == [.authenticated]) }
        let removals = zip(http.requests, http.paths).filter { $0.0.method == .delete }.map(\.1)
        let (first, second) = (http.paths[1], http.paths[4])
        #expect(removals == [first, second, first, second, first, second])
    }

    @Test func `what killed hosts have left is removed after a day by the server's clock, and nothing else`()
        async throws
    {
        func member(_ name: String, _ modified: String, isCollection: Bool = false) -> String {
            let type = "<d:resourcetype>\(isCollection ? "<d:collection/>" : "")</d:resourcetype>"
            let time = "<d:getlastmodified>\(modified)</d:getlastmodified>"
            return response("/files/.connector-uploads/\(name)", type + time)
        }
        let names = (0..<4).map { "0197f0c2-9a51-7c3e-8c1f-3f1d5f8e2a1\($0)" }
        let (old, new) = ("Sat, 31 Jan 2026 09:30:00 GMT", "Sat, 31 Jan 2026 09:30:01 GMT")
        // The last but one was begun a millisecond too late: a copy of an old file.
        let members =
            member("", old, isCollection: true) + member(names[0], old) + member(names[1], new)
            + member(names[2], old, isCollection: true) + member("notes", old) + member("a-\(names[0])", old)
            + member("019c0e3c-edc1-7c3e-8c1f-3f1d5f8e2a10", old) + member(names[3], old)
        let answers = [found("/files/", collection), (401, ""), (207, multistatus(members)), (204, ""), (403, "")]
        let http = http(answers + [found("/files/", collection), (401, "")], ["Date": "Sun, 01 Feb 2026 09:30:00 GMT"])
        let webdav = try webdav(http)
        for _ in 0..<2 { #expect(try await webdav.open().map(\.kind) == [.authenticated]) }
        #expect(
            http.requests.map(\.method) == [.propfind, .propfind, .propfind, .delete, .delete, .propfind, .propfind]
        )
        #expect(http.paths[3...4].map { String($0.suffix(36)) } == [names[0], names[3]])
    }
}
