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
        let release = state.withLock { state in
            state.isHeld = state.release != nil
            return state.release
        }
        await release?.wait()
        // Let others come in between.
        await Task.yield()
        try change { $0[key] = value }
    }

    func remove(_ key: String) async throws(PluginError) {
        try change { $0[key] = nil }
    }

    func keys(startingWith prefix: String) async throws(PluginError) -> [String] {
        state.withLock { $0.values.keys.filter { $0.hasPrefix(prefix) }.sorted() }
    }

    private func change(_ body: (inout [String: [UInt8]]) -> Void) throws(PluginError) {
        let isFull = state.withLock { state in
            if !state.isFull {
                body(&state.values)
                state.writes += 1
            }
            return state.isFull
        }
        if isFull { throw PluginError(.unavailable, "no space left on the device", domain: "errno", detail: 28) }
    }
}
