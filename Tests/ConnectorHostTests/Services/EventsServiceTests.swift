// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// events/1 as a plugin calls it, and what listeners receive.
@Suite struct EventsServiceTests {
    private let host = HostServices(
        options: .init(clock: ManualHostClock(now: .nanoseconds(10), wallTime: Timestamp(nanoseconds: 70)))
    )

    private func emit(_ plugin: PluginSide, _ name: [UInt8], _ json: [UInt8]? = nil) throws -> Int32 {
        typealias Emit =
            @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, UInt64, UnsafeRawPointer?, UInt64) -> Int32
        let table = try unsafe #require(
            plugin.gate.table(named: "events/1")?.assumingMemoryBound(to: connector_events.self)
        ).pointee
        let emit = unsafe unsafeBitCast(table.emit, to: Emit.self)
        return unsafe name.withUnsafeBytes { name in
            unsafe (json ?? []).withUnsafeBytes { bytes in
                unsafe emit(
                    table.context,
                    name.baseAddress,
                    UInt64(name.count),
                    json == nil ? nil : bytes.baseAddress,
                    UInt64(bytes.count)
                )
            }
        }
    }

    private func emit(_ plugin: PluginSide, _ name: String, _ json: String? = nil) throws -> Int32 {
        try emit(plugin, Array(name.utf8), json.map { Array($0.utf8) })
    }

    @Test func `a listener receives the events that are emitted after it began to listen`() async throws {
        let plugin = PluginSide(host: host, path: "database/kinto")
        #expect(try emit(plugin, "early") == CONNECTOR_OK)
        let events = host.events.events()
        #expect(try emit(plugin, "record.changed", #"{"id":"7"}"#) == CONNECTOR_OK)
        #expect(try emit(plugin, "idle") == CONNECTOR_OK)
        var iterator = events.makeAsyncIterator()
        let expected = ConnectorEvent(
            connector: "database/kinto",
            name: "record.changed",
            payload: ["id": "7"],
            time: Timestamp(nanoseconds: 70)
        )
        #expect(await iterator.next() == expected)
        #expect(
            await iterator.next()
                == ConnectorEvent(connector: "database/kinto", name: "idle", time: Timestamp(nanoseconds: 70))
        )
    }

    @Test func `a listener to a path receives the events of it and of what is below it`() async throws {
        let events = host.events.events(among: { ["database"] })
        for path in ["database2", "data", "geocoder/database", "database/kinto", "database"] {
            _ = try emit(PluginSide(host: host, path: path), "x")
        }
        host.events.finish()
        let paths = await events.reduce(into: []) { $0.append($1.connector) }
        #expect(paths == ["database/kinto", "database"])
    }

    @Test func `a slow listener loses the oldest events and is told how many`() async throws {
        let plugin = PluginSide(host: host)
        let events = host.events.events(capacity: 2)
        for index in 0..<5 { _ = try emit(plugin, "e\(index)") }
        var iterator = events.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.name == "e3")
        #expect(first?.missed == 3)
        let second = await iterator.next()
        #expect(second?.name == "e4")
        #expect(second?.missed == 0)
    }

    @Test func `a listener that waits is woken, and every listener gets its own`() async throws {
        let plugin = PluginSide(host: host)
        let first = host.events.events()
        let second = host.events.events()
        async let heard = first.first { _ in true }
        async let alsoHeard = second.first { _ in true }
        _ = try emit(plugin, "x")
        #expect(await heard?.name == "x")
        #expect(await alsoHeard?.name == "x")
    }

    @Test func `cancelling a task ends its waiting`() async {
        let events = host.events.events()
        let task = Task { await events.first { _ in true } }
        task.cancel()
        #expect(await task.value == nil)
    }

    @Test func `nobody listens any more once the sequence is dropped`() {
        do {
            let events = host.events.events()
            withExtendedLifetime(events) { #expect(host.events.hasListeners) }
        }
        #expect(!host.events.hasListeners)
    }

    @Test func `listening ends when the host does`() async throws {
        let events = host.events.events()
        _ = try emit(PluginSide(host: host), "last")
        await host.stop()
        let names = await events.reduce(into: []) { $0.append($1.name) }
        #expect(names == ["last"])
        #expect(await host.events.events().first { _ in true } == nil)
    }

    @Test(arguments: ["", "1a", "-a", "a b", "a/b", "é", "a\u{0}"])
    func `a name that breaks the rules is misuse`(name: String) throws {
        #expect(try emit(PluginSide(host: host), name) == CONNECTOR_MISUSE)
    }

    @Test func `a name or a payload that is too long is refused, even if nobody listens`() throws {
        let plugin = PluginSide(host: host)
        #expect(try emit(plugin, String(repeating: "a", count: 65)) == CONNECTOR_TOO_LARGE)
        #expect(try emit(plugin, String(repeating: "a", count: 64)) == CONNECTOR_OK)
        #expect(try emit(plugin, "a", String(repeating: " ", count: 65537)) == CONNECTOR_TOO_LARGE)
    }

    @Test(arguments: ["{", "[1,]", " ", "nul"])
    func `a payload that is not JSON is misuse while somebody listens`(json: String) throws {
        let plugin = PluginSide(host: host)
        #expect(try emit(plugin, "x", json) == CONNECTOR_OK)
        let events = host.events.events()
        #expect(try emit(plugin, "x", json) == CONNECTOR_MISUSE)
        withExtendedLifetime(events) {}
    }

    @Test func `a payload that is not UTF-8 is misuse while somebody listens`() throws {
        let events = host.events.events()
        #expect(try emit(PluginSide(host: host), [0x61], [0x22, 0xFF, 0x22]) == CONNECTOR_MISUSE)
        withExtendedLifetime(events) {}
    }

    @Test func `secrets are taken out of a payload`() async throws {
        let plugin = PluginSide(host: host, secrets: ["key": "topsecret"])
        let events = host.events.events()
        _ = try emit(plugin, "x", #"{"a":["topsecret"]}"#)
        #expect(await events.first { _ in true }?.payload == ["a": ["•••"]])
    }

    @Test func `null with a length is misuse`() throws {
        typealias Emit =
            @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, UInt64, UnsafeRawPointer?, UInt64) -> Int32
        let gate = PluginSide(host: host).gate
        let table = try unsafe #require(
            gate.table(named: "events/1")?.assumingMemoryBound(to: connector_events.self)
        ).pointee
        let emit = unsafe unsafeBitCast(table.emit, to: Emit.self)
        let statuses = unsafe [
            emit(nil, nil, 0, nil, 0), emit(table.context, nil, 4, nil, 0), emit(table.context, "name", 4, nil, 4),
        ]
        #expect(statuses == [Int32](repeating: Int32(CONNECTOR_MISUSE), count: 3))
    }
}
