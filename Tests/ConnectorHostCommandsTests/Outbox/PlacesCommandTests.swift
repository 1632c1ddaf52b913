// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// The commands that take a connector's path find a gate by each of its places.
@Suite(.timeLimit(.minutes(5))) struct PlacesCommandTests {
    @Test func `operations and the outbox of a gate are found at every place, with a host and without`() async throws {
        let bench = try await OutboxWorkspace()
        try bench.configure(
            bench.leaf("segment"),
            ["name": "group", "connectors": [["name": "place", "same": "segment"]]]
        )
        bench.sink.answers { _ in .refuses }
        _ = try await bench.json("send", "group", "track", "event=Seen", "messageId=m1", "userId=u")
        func check(_ attachment: String) async throws {
            for path in ["segment", "group/place", "group"] {
                let operations = try await bench.json("operations", path, attachment)
                #expect(operations["connectors"]?[0]?["path"] == "segment", "\(path)")
                #expect(operations["connectors"]?[0]?["places"] == ["group/place"])
                let outboxes = try await bench.json("outbox", "list", "--gate", path, attachment)["outboxes"]
                #expect(outboxes?[0]?["connector"] == "segment", "\(path)")
            }
        }
        try await check("--no-attach")
        let host = try bench.run()
        var letters: [JSONValue] = []
        while letters.isEmpty {
            letters = try await bench.json("outbox", "dead", "--gate", "group/place")["dead"]?.array ?? []
        }
        #expect(letters.first?["id"] == "m1")
        try await check("--attach")
        let text = try await bench.program.run("operations", "group/place").output
        #expect(text.hasPrefix("segment\n  also group/place\n"), "\(text)")
        #expect(try await bench.json("outbox", "drop", "--all", "--gate", "group/place")["dropped"] == 1)
        host.signal(15)
        #expect(try await host.finish().status == 0)
        try await bench.sink.stop()
    }
}
