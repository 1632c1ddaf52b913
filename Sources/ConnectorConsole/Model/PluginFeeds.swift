// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest

/// The answers that the components of visible plugin scenes show, and when each call is due again.
struct PluginFeeds: Sendable {
    private var entries: [String: Entry] = [:]
    /// Distinguishes these feeds from those of the scenes before a reload.
    private(set) var epoch = 0

    private struct Entry: Sendable {
        var feed = PluginFeed.loading
        /// When the next call is due, in nanoseconds of the host's clock; nil while one runs.
        var due: UInt64? = 0
    }

    /// Starts without answers.
    init() {}

    /// Starts without answers, as the successor of the feeds of other scenes.
    init(after last: PluginFeeds) { epoch = last.epoch + 1 }

    /// The contents of the components, by scene, gate and component.
    var feeds: [String: PluginFeed] { entries.mapValues(\.feed) }

    /// The calls that are due; each counts as running until ``end(_:_:next:)``.
    mutating func calls(for scene: PluginScene, at now: UInt64) -> [(
        key: String, gate: String, ManifestScene.Component
    )] {
        var calls: [(String, String, ManifestScene.Component)] = []
        for gate in scene.gates {
            for component in scene.scene.components where component.operation != nil {
                let key = PluginFeed.key(scene, gate, component)
                guard let due = entries[key, default: Entry()].due, due <= now else { continue }
                entries[key, default: Entry()].due = nil
                calls.append((key, gate, component))
            }
        }
        return calls
    }

    /// Records the answer of a call, or its error. An error leaves the rows of the last answer in place.
    mutating func end(_ key: String, _ result: Result<[[String]], ConnectorError>, next due: UInt64) {
        var entry = entries[key] ?? Entry()
        switch result {
        case .success(let rows):
            entry.feed.rows = rows
            entry.feed.state = rows.isEmpty ? .empty() : .loaded
        case .failure(let error): entry.feed.state = .failed(error)
        }
        entry.due = due
        entries[key] = entry
    }
}
