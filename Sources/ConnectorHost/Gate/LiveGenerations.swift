// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import Synchronization

/// The live generations of a host, including those whose plugin keeps them from ending.
final class LiveGenerations: Sendable {
    private struct Entry: Sendable {
        weak var generation: Generation?
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// Adds a new generation.
    func add(_ generation: Generation) {
        entries.withLock { $0[ObjectIdentifier(generation)] = Entry(generation: generation) }
    }

    /// Removes a released generation.
    func remove(_ generation: Generation) {
        let key = ObjectIdentifier(generation)
        entries.withLock { $0[key] = nil }
    }

    /// Ends every generation, and returns once all have ended, including those that reloads gave up, and those of gates that
    /// are no longer in any tree.
    func end() async {
        let generations = entries.withLock { $0.values.compactMap(\.generation) }
        await withTaskGroup { group in
            for generation in generations { group.addTask { await generation.end() } }
        }
    }

    /// Describes the plugin functions running on threads of the host, each with its plugin and connector.
    var functionsInside: [(path: String, text: String)] {
        let generations = entries.withLock { $0.values.compactMap(\.generation) }
        return generations.flatMap { generation in
            Set(generation.functionsInside.map(\.description)).map { function in
                let path = generation.plan.path
                return (path, "\(function) of the plugin \(generation.plugin) to return, for the connector \(path)")
            }
        }.sorted { $0 < $1 }
    }
}
