// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// What a host does with its events when it is told to stop, and when the vendor refuses them.
@Suite(.timeLimit(.minutes(10))) struct OutboxDeliveryTests {
    @Test func `a host that is told to stop exits with 0 after its grace, and says what is left`() async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .away }
        let tried = bench.sink.expect(.answered, 1)
        let host = try bench.run("--grace", "100ms")
        try await bench.track("m1")
        try await tried.met()
        #expect(try await bench.end(host) == ["version": 1, "queued": 1])
        bench.sink.answers { _ in .takes }
        let arrives = bench.sink.expect(.read, 1)
        let next = try bench.run("--grace", "1m")
        try await arrives.met()
        #expect(try await bench.end(next) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken == ["m1": 1])
        try await bench.sink.stop()
    }

    @Test func `a host whose log nobody reads heals, delivers and stops all the same`() async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .away }
        let tried = bench.sink.expect(.answered, 2)
        var program = bench.program
        program.isErrorFull = true
        let host = try program.start(["run", "--json", "--log-level", "trace"])
        try await bench.track("m1")
        try await tried.met()
        bench.sink.answers { _ in .takes }
        let taken = bench.sink.expect("m1")
        try await taken.met()
        #expect(try await bench.program.run("operations", "--attach").status == 0)
        host.signal(15)
        while !hasEnded("\(host.identifier)") { try await Task.checkedYield() }
        let result = try await host.finish()
        #expect(result.status == 0, "\(result)")
        #expect(try JSONValue(parsing: result.output) == ["version": 1, "queued": 0])
        try await bench.sink.stop()
    }

    @Test func `while a key is wrong the events wait, and a new one in its file delivers them`() async throws {
        let bench = try await OutboxWorkspace()
        try bench.configure(
            bench.leaf(
                "segment",
                ["config": ["endpoint": .string(bench.sink.url), "writeKey": ["secret": "file:key"]]]
            )
        )
        try bench.workspace.write("old", to: "key")
        bench.sink.answers { key in key == "Basic bmV3Og==" ? .takes : .unauthorized }
        let host = try bench.run("--grace", "1m")
        let refused = bench.sink.expect(.answered, 2)
        try await bench.track("m1")
        try await refused.met()
        let attempt = try await bench.json("outbox", "explain", "m1")["connectors"]?.array?.first?["attempts"]?.array?
            .first
        #expect(attempt?["code"] == "unauthorized")
        try bench.workspace.write("new", to: "key")
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken == ["m1": 1])
        #expect(Set(bench.sink.keys) == ["Basic b2xkOg==", "Basic bmV3Og=="])
        try await bench.sink.stop()
    }

    @Test func `a vendor that goes away, comes back, and changes its key twice gets everything once`() async throws {
        let bench = try await OutboxWorkspace()
        let (sink, port) = (bench.sink, bench.sink.port)
        let config: JSONValue = ["endpoint": .string(sink.url), "writeKey": ["secret": "file:key"]]
        try bench.configure(bench.leaf("segment", ["config": config]))
        try bench.workspace.write("one", to: "key")
        sink.answers { key in key == "Basic b25lOg==" ? .takes : .unauthorized }
        let host = try bench.run("--grace", "1m")
        func sendAll(_ name: String) async throws {
            let text = (1...300).map { OutboxWorkspace.line("\(name)-\($0)") }.joined()
            try bench.workspace.write(text, to: "\(name).jsonl")
            let sent = try await bench.send("segment", file: "\(name).jsonl").finish()
            #expect(sent.status == 0, "\(sent.error)")
        }
        try await sendAll("before")
        // The host knows that the vendor has them.
        while try await bench.json("outbox")["outboxes"]?.array?.first?["queued"] != 0 {}
        try await sink.stop()
        try await sendAll("away")
        let refused = sink.expect(.answered, 2)
        sink.answers { key in key == "Basic dHdvOg==" ? .takes : .unauthorized }
        try await sink.listen(port)
        try await refused.met()
        try bench.workspace.write("two", to: "key")
        try await sink.expect("away-300").met()
        let refusedAgain = sink.expect(.answered, 2)
        sink.answers { key in key == "Basic dGhyZWU6" ? .takes : .unauthorized }
        try await sendAll("after")
        try await refusedAgain.met()
        try bench.workspace.write("three", to: "key")
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        let ids = ["before", "away", "after"].flatMap { name in (1...300).map { "\(name)-\($0)" } }
        #expect(sink.taken == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
        try await sink.stop()
    }

    @Test(arguments: [(Sink.Answer.forbidden, "unauthorized"), (.absent, "missing")])
    func `no event is lost while the vendor answers 403 or 404`(_ answer: Sink.Answer, _ code: String) async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in answer }
        let host = try bench.run("--grace", "1m")
        let refused = bench.sink.expect(.answered, 3)
        try await bench.track("m1")
        try await refused.met()
        let event = try await bench.json("outbox", "explain", "m1")["connectors"]?.array?.first
        #expect(event?["state"] == "queued")
        #expect(event?["attempts"]?.array?.first?["code"]?.string == code)
        bench.sink.answers { _ in .takes }
        #expect(try await bench.end(host) == ["version": 1, "queued": 0])
        #expect(bench.sink.taken == ["m1": 1])
        try await bench.sink.stop()
    }
}
