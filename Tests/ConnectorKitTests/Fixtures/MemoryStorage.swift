// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Stored values in memory, on a disk that can be full.
final class MemoryStorage: StorageService {
    private struct State {
        var values: [String: [UInt8]] = [:]
        var isFull = false
        var writes = 0
        var release: OneShot<Void>?
        var isHeld = false
    }

    private let state = Mutex(State())

    /// Whether nothing can be written.
    var isFull: Bool {
        get { state.withLock(\.isFull) }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// How many writes succeeded.
    var writes: Int { state.withLock(\.writes) }

    /// Whether a write waits.
    var isHeld: Bool { state.withLock(\.isHeld) }

    /// Makes every write wait.
    func hold(until release: OneShot<Void>) { state.withLock { $0.release = release } }

    func value(of key: String) async throws(PluginError) -> [UInt8]? { state.withLock { $0.values[key] } }

    func set(_ value: [UInt8], for key: String) async throws(PluginError) {
        await pass()
        _ = try change { values in
            values[key] = value
            return true
        }
    }

    func replace(
        _ expected: [UInt8]?,
        with value: [UInt8],
        for key: String
    ) async throws(PluginError) -> Bool {
        await pass()
        return try change { values in
            guard values[key] == expected else { return false }
            values[key] = value
            return true
        }
    }

    func remove(_ key: String) async throws(PluginError) {
        _ = try change { values in
            values[key] = nil
            return true
        }
    }

    func keys(startingWith prefix: String) async throws(PluginError) -> [String] {
        state.withLock { $0.values.keys.filter { $0.hasPrefix(prefix) }.sorted() }
    }

    /// Waits while writes are held.
    private func pass() async {
        let release = state.withLock { state in
            state.isHeld = state.release != nil
            return state.release
        }
        await release?.wait()
        // Let others come in between.
        await Task.yield()
    }

    /// Writes, and returns whether anything was written.
    private func change(_ body: (inout [String: [UInt8]]) -> Bool) throws(PluginError) -> Bool {
        let isWritten = state.withLock { state -> Bool? in
            guard !state.isFull else { return nil }
            let isWritten = body(&state.values)
            if isWritten { state.writes += 1 }
            return isWritten
        }
        guard let isWritten else {
            throw PluginError(.unavailable, "no space left on the device", domain: "errno", detail: 28)
        }
        return isWritten
    }
}
