// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorTestSupport
internal import Synchronization
internal import Testing

@testable internal import settings_file

/// The adapter that keeps settings through the host's storage.
@Suite struct SettingsFileTests {
    private let storage = MemoryStorage()
    private let told = Told()

    /// Records the events that the adapter emitted.
    private final class Told: Sendable {
        private let state = Mutex<[JSONValue]>([])

        var changes: [JSONValue] { state.withLock(\.self) }

        func note(_ name: String, _ value: JSONValue) {
            state.withLock { $0.append(name == SettingsChange.event ? value : .string(name)) }
        }
    }

    private func settings(_ defaults: JSONValue = [:]) throws -> SettingsFile {
        let host = Host(
            events: Events { [told] name, value throws(PluginError) in told.note(name, value) },
            storage: storage
        )
        return try SettingsFile(configuration: PluginConfiguration(["defaults": defaults]), host: host)
    }

    private func failure(_ body: () async throws -> Void) async -> PluginError? {
        await #expect(throws: (any Error).self) { try await body() }.map { PluginError($0) }
    }

    @Test func `a value is read back, also by another instance`() async throws {
        try await settings().set(key: "theme", value: "dark")
        #expect(try await settings().get(key: "theme") == "dark")
        #expect(try await settings().get(key: "volume") == .null)
        #expect(
            try await settings().open().map(\.detail) == ["the storage answers; settings stored: 1"]
        )
    }

    @Test func `every change is announced with the values that differ, defaults included`() async throws {
        let settings = try settings(["theme": "light"])
        try await settings.set(key: "theme", value: "dark")
        try await settings.set(key: "theme", value: "dark")
        try await settings.change(changes: ["theme": "light", "a": 1, "b": .null])
        try await settings.remove(key: "theme")
        try await settings.remove(key: "a")
        #expect(told.changes == [["theme": "dark"], ["theme": "light", "a": 1], ["a": .null]])
    }

    @Test func `a default stands in for a setting without a value, also once its value is removed`() async throws {
        let settings = try settings(["theme": "light", "volume": 0.8])
        try await settings.set(key: "volume", value: 1)
        #expect(try await settings.list(prefix: nil) == ["theme": "light", "volume": 1])
        try await settings.remove(key: "volume")
        #expect(try await settings.list(prefix: "v") == ["volume": 0.8])
    }

    @Test(
        arguments: [("theme", 1, "must be a string"), ("volume", "loud", "must be a number"), ("on", 0, "a boolean")]
            as [(String, JSONValue, String)]
    )
    func `a value of another type than the default is refused, and changes nothing`(
        _ key: String,
        _ value: JSONValue,
        _ message: String
    ) async throws {
        let settings = try settings(["theme": "light", "volume": 1, "on": true])
        let change = JSONValue.object(JSONObject([("fine", 1), (key, value)]))
        let refusal = await failure { try await settings.change(changes: change) }
        #expect(refusal?.status == .invalid)
        #expect(refusal?.message.contains(message) == true, "\(refusal?.message ?? "")")
        #expect(try await settings.get(key: "fine") == .null)
    }

    @Test func `a full disk is an error, and neither loses nor changes a value`() async throws {
        let settings = try settings()
        try await settings.set(key: "a", value: 1)
        storage.isFull = true
        let error = await failure { try await settings.change(changes: ["a": 2, "b": 3]) }
        #expect(error?.status == .unavailable && error?.message == "no space left on the device")
        #expect(try await settings.list(prefix: nil) == ["a": 1])
        storage.isFull = false
        try await settings.set(key: "b", value: 3)
        #expect(try await settings.list(prefix: nil) == ["a": 1, "b": 3])
        #expect(told.changes == [["a": 1], ["b": 3]])
    }

    @Test func `concurrent changes take effect one after another, and are announced in that order`() async throws {
        let settings = try settings()
        try await withThrowingTaskGroup { group in
            for number in 0..<50 as Range<Int64> {
                group.addTask {
                    try await settings.change(changes: ["k\(number)": .integer(number), "last": .integer(number)])
                }
            }
            try await group.waitForAll()
        }
        let list = try await settings.list(prefix: nil)
        #expect(list.object?.members.count == 51)
        #expect(told.changes.count == 50)
        #expect(told.changes.last?["last"] == list["last"])
    }

    @Test func `instances that change settings at once keep each other's changes`() async throws {
        let instances = [try settings(), try settings(), try settings()]
        try await withThrowingTaskGroup { group in
            for (place, instance) in instances.enumerated() {
                for number in 0..<20 as Range<Int64> {
                    group.addTask { try await instance.set(key: "i\(place).k\(number)", value: .integer(number)) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await settings().list(prefix: nil).object?.members.count == 60)
        #expect(told.changes.count == 60)
    }

    @Test(.timeLimit(.minutes(1))) func `closing awaits the change that is under way`() async throws {
        let settings = try settings()
        let release = OneShot<Void>()
        storage.hold(until: release)
        let change = Task { try await settings.set(key: "a", value: 1) }
        while !storage.isHeld { try await Task.checkedYield() }
        let closing = Task { [storage] in
            await settings.close()
            return storage.writes
        }
        // Time for a close that does not wait.
        for _ in 0..<100 { await Task.yield() }
        release.send()
        #expect(await closing.value == 1)
        try await change.value
    }

    @Test func `too many settings, or too large ones, are refused and change nothing`() async throws {
        let settings = try settings()
        let large = JSONValue.string(String(repeating: "x", count: 40_000))
        try await settings.set(key: "a", value: large)
        #expect(await failure { try await settings.set(key: "b", value: large) }?.status == .tooLarge)
        let many = JSONObject((0..<1000).map { ("k\($0)", 1) })
        #expect(await failure { try await settings.change(changes: .object(many)) }?.status == .tooLarge)
        #expect(try await settings.list(prefix: nil).object?.names == ["a"])
        #expect(storage.writes == 1)
    }

    /// Null in arrays.
    private func nested(_ levels: Int) -> JSONValue {
        (0..<levels).reduce(.null) { value, _ in .array([value]) }
    }

    @Test func `the deepest value is stored, listed and announced, and a deeper one is refused`() async throws {
        let settings = try settings()
        // A member of an object in each of these.
        let deepest = nested(JSONParser.depthLimit - 1)
        try await settings.set(key: "deepest", value: deepest)
        #expect(try await settings.list(prefix: nil) == ["deepest": deepest])
        #expect(told.changes == [["deepest": deepest]])
        // As the host reads an event.
        #expect(throws: Never.self) { try JSONValue(parsing: told.changes.first?.utf8() ?? []) }
        for levels in [0, 2, 71] {
            let deeper = nested(JSONParser.depthLimit + levels)
            let refusal = await failure { try await settings.set(key: "a", value: deeper) }
            #expect(refusal?.status == .invalid && refusal?.message.contains("\"a\" is nested deeper than 127") == true)
            let change = JSONValue.object(["b": 1, "a": deeper])
            #expect(await failure { try await settings.change(changes: change) }?.status == .invalid)
        }
        #expect(storage.writes == 1)
    }

    @Test func `a stored value that is deeper than any is read and removed, and harms no other one`() async throws {
        let stored = JSONValue.object(["a": 1, "deep": nested(JSONParser.depthLimit + 72)])
        try await storage.set(stored.utf8(), for: "settings")
        let settings = try settings()
        #expect(try await settings.open().map(\.detail) == ["the storage answers; settings stored: 2"])
        #expect(try await settings.get(key: "a") == 1)
        try await settings.remove(key: "deep")
        #expect(try await settings.list(prefix: nil) == ["a": 1])
    }

    @Test(arguments: ["[1]", "{", ""])
    func `a stored document that is not one of settings is neither read nor overwritten`(
        _ text: String
    ) async throws {
        try await storage.set(Array(text.utf8), for: "settings")
        let settings = try settings()
        #expect(
            await failure { _ = try await settings.open() }?.message.contains("neither read nor overwritten") == true
        )
        #expect(await failure { try await settings.set(key: "a", value: 1) }?.status == .failed)
        #expect(try await storage.value(of: "settings") == Array(text.utf8))
    }

    @Test(arguments: [["a b": 1], ["a": .null], [1], ["": 1]] as [JSONValue])
    func `defaults that are not valid settings are refused`(_ defaults: JSONValue) {
        let error = #expect(throws: PluginError.self) { try settings(defaults) }
        #expect(error?.status == .invalid)
    }

    @Test(arguments: ["", "a/b", "é", "a b", String(repeating: "k", count: 129)])
    func `a text that is not a key is refused by every operation`(_ key: String) async throws {
        let settings = try settings()
        #expect(await failure { _ = try await settings.get(key: key) }?.status == .invalid)
        #expect(await failure { try await settings.set(key: key, value: 1) }?.status == .invalid)
        #expect(await failure { try await settings.remove(key: key) }?.status == .invalid)
        #expect(
            await failure { try await settings.change(changes: .object(JSONObject([(key, 1 as JSONValue)]))) }?.status
                == .invalid
        )
        #expect(await failure { try await settings.set(key: "a", value: .null) }?.status == .invalid)
    }
}
