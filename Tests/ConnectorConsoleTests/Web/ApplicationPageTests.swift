// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb
@testable import ConnectorHTTPServer

/// An application's scenes, served: its buttons and forms, as a browser posts them.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer")
)
struct ApplicationPageTests {
    private let sites = Sites()

    /// A served console of the sites, and the fields of a browser that has entered.
    private func served(
        _ step: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> (console: ServedConsole, page: [String: String], script: [String: String]) {
        let console = try await ServedConsole(ServedConsole.host()) { [sites] in $0.registry = sites.registry(step) }
        let fields = ["Cookie": try await console.enter(), "Origin": "http://\(console.authority)"]
        func accepting(_ type: String) -> [String: String] { fields.merging(["Accept": type]) { $1 } }
        return (console, accepting("text/html"), accepting("text/plain"))
    }

    @Test func `a posted form runs its closure, and leads where the closure says`() async throws {
        let (console, page, script) = try await served()
        let form = try await console.ask("GET", "/sites", page)
        #expect(
            form.contains(" data-ordered") && form.contains("name=\"f.name\"") && form.contains(">Add</button>")
        )
        let kiel = "at=%2Fsites&form=add&f.name=kiel&f.limit=12.5"
        let added = try await console.ask("POST", "/-/call", page, body: kiel)
        #expect(added.status == 303 && added.field("location") == "/sites/kiel")
        #expect(sites.all.map(\.name) == ["berlin", "bonn", "kiel"])
        let next = try await console.ask("GET", "/sites/kiel", page)
        #expect(next.contains("<p class=\"message\">added kiel</p>"))
        let ulm = "at=%2Fsites&form=add&f.name=ulm&f.limit=9"
        let answered = try await console.ask("POST", "/-/call", script, body: ulm)
        #expect(answered.status == 200 && answered.hasSuffix("added ulm"))
        #expect(answered.field("content-location") == "/sites/ulm" && sites.all.count == 4)
        await console.stop()
    }

    @Test(arguments: [
        ("f.limit=warm", "f.name"), ("f.name=kiel&f.limit=warm", "limit must be a number, such as 12.5"),
        ("f.name=kiel&f.limit=-1", "must be positive"),
    ])
    func `what a form or its closure refuses is reported at the field, and nothing is done`(
        fields: String,
        said: String
    )
        async throws
    {
        let (console, page, script) = try await served()
        let body = "at=%2Fsites&form=add&\(fields)"
        let shown = try await console.ask("POST", "/-/call", page, body: body)
        #expect(shown.status == 422 && shown.contains("aria-invalid=\"true\"") && shown.contains(said))
        let answered = try await console.ask("POST", "/-/call", script, body: body)
        #expect(answered.status == 422 && answered.contains("\"fields\":"))
        #expect(sites.all.count == 2)
        await console.stop()
    }

    @Test func `text that was entered is shown again unchanged, whatever its characters`() async throws {
        let (console, page, _) = try await served()
        let body = "at=%2Fsites&form=add&f.name=a%0D%0Ab%E2%80%8Ec&f.limit=warm"
        let shown = try await console.ask("POST", "/-/call", page, body: body)
        #expect(shown.status == 422 && shown.contains("value=\"a&#xD;\nb&#x200E;c\""))
        await console.stop()
    }

    @Test func `the status says whether an act failed, whatever its sentence says`() async throws {
        let (console, _, script) = try await served { throw ConnectorError(.timedOut, "nobody came") }
        let waited = try await console.ask("POST", "/-/act", script, body: "at=%2Fsites&act=wait+at+%2Fsites")
        #expect(waited.status == 504 && waited.hasSuffix("wait failed: nobody came [timed-out]"))
        let named = "at=%2Fsites&form=add&f.name=it+failed%3A+no&f.limit=9"
        let added = try await console.ask("POST", "/-/call", script, body: named)
        #expect(added.status == 200 && added.hasSuffix("added it failed: no"))
        await console.stop()
    }

    @Test func `what was entered into a field that is gone is not dropped unseen`() async throws {
        let (console, page, script) = try await served()
        let body = "at=%2Fsites&form=add&f.name=kiel&f.limit=9&f.zone=north"
        let answered = try await console.ask("POST", "/-/call", script, body: body)
        #expect(answered.status == 409 && answered.contains("no longer has the field zone: reload the page"))
        #expect(try await console.ask("POST", "/-/call", page, body: body).status == 409)
        #expect(sites.all.count == 2, "nothing is done")
        let empty = "at=%2Fsites&form=add&f.name=kiel&f.limit=9&f.zone="
        #expect(try await console.ask("POST", "/-/call", script, body: empty).status == 200)
        await console.stop()
    }

    @Test func `an act goes on though its page is left, and the next page says how it ended`() async throws {
        let (begun, left, cancelled) = (OneShot<Void>(), OneShot<Void>(), OneShot<Bool>())
        let (console, page, script) = try await served {
            begun.send(())
            await left.wait()
            cancelled.send(Task.isCancelled)
        }
        let body = "at=%2Fsites&act=wait+at+%2Fsites"
        let fields = script.map { "\($0.key): \($0.value)\r\n" }.joined()
        let request =
            "POST /-/act HTTP/1.1\r\nHost: \(console.authority)\r\n\(fields)"
            + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        try await RawConnection(port: console.port).holding(request) { await begun.wait() }
        let table = try #require(console.server.table)
        while table.count > 0 { try await Task.checkedYield() }
        left.send(())
        #expect(await !cancelled.wait())
        while try await !console.ask("GET", "/sites/bonn", page).contains("<p class=\"message\">waited</p>") {
            try await Task.checkedYield()
        }
        await console.stop()
    }

    @Test func `an act that runs when the server ends is cancelled`() async throws {
        let acts = PageActs(Console(registry: sites.registry { while !Task.isCancelled { await Task.yield() } }))
        let scene = sites.registry().scene(for: Route(Sites.Place.list), of: ConsoleSnapshot())
        let act = try #require(scene.act("wait at /sites"))
        async let outcome = acts.perform(act)
        acts.end()
        #expect(await outcome == "waited")
        #expect(await acts.perform(act) == "waited", "so is a later one")
    }

    @Test func `a posted button runs its closure, once its question is answered`() async throws {
        let (console, page, script) = try await served()
        let shown = try await console.ask("GET", "/sites", page)
        #expect(shown.contains("aria-keyshortcuts=\"w\""))
        let waited = try await console.ask("POST", "/-/act", script, body: "at=%2Fsites&act=wait+at+%2Fsites")
        #expect(waited.status == 200 && waited.hasSuffix("waited"))
        let remove = "at=%2Fsites&act=remove+bonn+at+%2Fsites"
        #expect(try await console.ask("POST", "/-/act", script, body: remove).status == 428)
        #expect(sites.all.count == 2)
        let removed = try await console.ask("POST", "/-/act", page, body: remove + "&confirmed=yes")
        #expect(removed.status == 303 && sites.all.map(\.name) == ["berlin"])
        #expect(try await console.ask("POST", "/-/act", page, body: remove).status == 409, "it is not offered any more")
        await console.stop()
    }
}
