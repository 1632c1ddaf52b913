// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

// An application imports nothing else.
import ConnectorHost
import Testing

/// The outbox through the public API alone.
@Suite(.timeLimit(.minutes(5))) struct ApplicationOutboxTests {
    private let scratch = ScratchDirectory()

    /// A host with two vendors, which permanently refuse events named `refuse`.
    private func host(_ name: String = "vendors", isQueued: Bool = true) throws -> ConnectorHost {
        var policy = DeliveryPolicy()
        policy.batchCount = 1
        let delivery: DeliveryPolicy? = isQueued ? policy : .direct
        let plugin = Fixtures.contract("deliveries")
        let connectors = ["a", "b"].map {
            Connector($0, plugin: plugin, probeInterval: nil, delivery: delivery)
        }
        #expect(connectors.map(\.deliveryMode) == Array(repeating: isQueued ? .queued : .direct, count: 2))
        let configuration = try Configuration(
            connectors: [Connector(name, connectors: connectors)],
            state: scratch.path + "/state"
        )
        return try ConnectorHost(configuration, options: ConnectorHost.Options(stateDirectory: scratch.path))
    }

    /// Sends events that both vendors refuse, and waits until they are dead letters.
    private func refused(_ count: Int, _ host: ConnectorHost) async throws -> [String] {
        var ids: [String] = []
        for _ in 1...count {
            let receipt = try await host.analytics("vendors").track("refuse")
            ids.append(receipt.id)
            let error = await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
            #expect(error?.cause?.contains("the vendor refuses it") == true)
        }
        return ids
    }

    @Test func `dead letters are listed page by page, with everything that is known of them`() async throws {
        let host = try host()
        #expect(try await host.deadLetters().isEmpty, "also before anything was stored")
        await host.open()
        let ids = try await refused(3, host)
        let all = try await host.deadLetters()
        #expect(all.count == 6)
        #expect(Set(all.map(\.connector)) == ["vendors/a", "vendors/b"])
        let letter = try #require(all.first)
        #expect(letter.id == ids[0])
        #expect((letter.capability, letter.operation) == ("analytics/1", "track"))
        #expect(letter.reason == "the vendor refuses it" && letter.code == .invalid)
        #expect(letter.attempts == 1 && letter.lastAttemptAt != nil)
        #expect(try JSONValue(parsing: letter.payload)["messageId"]?.string == ids[0])
        var (pages, cursor): ([[DeadLetter]], DeadLetter.Cursor?) = ([], nil)
        repeat {
            let page = try await host.deadLetters(of: "vendors/a", limit: 2, after: cursor)
            pages.append(page)
            // A cursor survives as a text.
            cursor = page.last.flatMap { DeadLetter.Cursor($0.cursor.description) }
        } while cursor != nil
        #expect(pages.map { $0.map(\.id) } == [[ids[0], ids[1]], [ids[2]], []])
        #expect(try await host.deadLetters(limit: 0).isEmpty)
        #expect(try await host.deadLetters(limit: -1).isEmpty)
        #expect(DeadLetter.Cursor("nonsense") == nil)
        await host.close()
    }

    @Test func `dead letters are replayed and dropped, by connector and by id, also by the next host`() async throws {
        let first = try host()
        await first.open()
        let ids = try await refused(3, first)
        #expect(try await first.dropDeadLetters(of: "vendors/b", ids: [ids[0]]) == 1)
        #expect(try await first.dropDeadLetters(of: "vendors/b", ids: [ids[0], "no such id"]) == 0)
        await first.close()
        let second = try host()
        #expect(try await second.deadLetters(of: "vendors").count == 5)
        #expect(try await second.replayDeadLetters(of: "vendors/a", ids: [ids[1]]) == 1)
        #expect(try await second.deadLetters(of: "vendors/a").count == 2)
        await second.open()
        // It is refused again.
        try await second.flush()
        #expect(try await second.deadLetters(of: "vendors/a").count == 3)
        #expect(try await second.dropDeadLetters() == 5)
        #expect(try await second.deadLetters().isEmpty)
        #expect(second.outbox(of: "vendors/a")?.dead == 0)
        await second.close()
    }

    @Test func `dead letters of a connector that is gone are found before the host opens`() async throws {
        let first = try host()
        await first.open()
        _ = try await refused(1, first)
        await first.close()
        let second = try host("others")
        #expect(try await second.deadLetters(of: "vendors/a").count == 1)
        #expect(try await second.dropDeadLetters(of: "vendors/a") == 1)
        #expect(try await second.deadLetters().map(\.connector) == ["vendors/b"])
        await second.close()
        let third = try host("others")
        #expect(try await third.replayDeadLetters(of: "vendors/b", to: "others/b") == 1)
        await third.close()
    }

    @Test func `dead letters go to a connector by the path of another of its places`() async throws {
        let first = try host()
        await first.open()
        _ = try await refused(1, first)
        #expect(try await first.dropDeadLetters(of: "vendors/b") == 1)
        await first.close()
        let connectors = [
            Connector("c", plugin: Fixtures.contract("deliveries"), probeInterval: nil), Connector("place", same: "c"),
        ]
        let configuration = try Configuration(connectors: connectors, state: scratch.path + "/state")
        let second = try ConnectorHost(configuration, options: ConnectorHost.Options(stateDirectory: scratch.path))
        #expect(try await second.replayDeadLetters(to: "place") == 1)
        #expect(second.outbox(of: "c")?.queued == 1)
        await second.close()
    }

    @Test func `a flush before the host opens waits for what an earlier process has left`() async throws {
        let first = try host()
        try await first.analytics("vendors").track("Seen")
        await first.close()
        let second = try host()
        #expect(try await second.flush(within: .milliseconds(50)) == false)
        await second.open()
        #expect(try await second.flush())
        await second.close()
        let error = await #expect(throws: ConnectorError.self) { try await second.flush() }
        #expect(error?.code == .notOpen)
    }

    @Test func `the path of an unknown connector and a closed host are errors`() async throws {
        let host = try host()
        for act in [
            { () async throws -> Void in _ = try await host.deadLetters(of: "nobody") },
            { try await host.replayDeadLetters(of: "nobody") }, { try await host.dropDeadLetters(of: "nobody") },
        ] {
            let error = await #expect(throws: ConnectorError.self) { try await act() }
            #expect(error?.code == .unknownConnector)
        }
        await host.open()
        await host.close()
        for act in [
            { () async throws -> Void in _ = try await host.deadLetters() },
            { try await host.replayDeadLetters() }, { try await host.dropDeadLetters() },
        ] {
            let error = await #expect(throws: ConnectorError.self) { try await act() }
            #expect(error?.code == .notOpen)
        }
    }

    @Test func `dead letters go to no unknown connector, also if there are none`() async throws {
        let test = try TestHost(TestHost.leaf("a", plugin: "deliveries"))
        let error = try await failure { () throws(ConnectorError) in
            try await test.host.replayDeadLetters(to: "nobody")
        }
        #expect(error.code == .unknownConnector)
        #expect(try await test.host.replayDeadLetters(to: "a") == 0)
        await test.host.close()
    }

    @Test func `a receipt says which vendors got the event directly, and which get it from the outbox`() async throws {
        let queued = try host()
        await queued.open()
        let receipt = try await queued.analytics("vendors").track("Seen")
        #expect(receipt.deliveryModes == ["vendors/a": .queued, "vendors/b": .queued])
        try await receipt.delivered()
        await queued.close()
        let direct = try host(isQueued: false)
        await direct.open()
        let other = try await direct.analytics("vendors").track("Seen")
        #expect(other.deliveryModes == ["vendors/a": .direct, "vendors/b": .direct])
        #expect(other.outcomes.map(\.isSuccess) == [true, true])
        #expect("\(DeliveryMode.direct)" == "direct" && DeliveryMode(rawValue: "queued") == .queued)
        #expect(DeliveryMode(rawValue: "nothing") == nil)
        await direct.close()
    }
}
