// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import Synchronization

/// The live generations of a host, including those whose plugin keeps them from ending.
final class LiveGenerations: Sendable {
    private struct Entry: Sendable {
        let id: ObjectIdentifier
        weak var generation: Generation?
    }

    private let entries = Mutex<[Entry]>([])

    /// Adds a new generation.
    func add(_ generation: Generation) {
        entries.withLock { $0.append(Entry(id: ObjectIdentifier(generation), generation: generation)) }
    }

    /// Removes a released generation.
    func remove(_ generation: Generation) {
        let id = ObjectIdentifier(generation)
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
            entries.swapAt(index, entries.count - 1)
            entries.removeLast()
        }
    }

    /// Ends every generation, and returns once all have ended, including those that reloads gave up, and those of gates that
    /// are no longer in any tree.
    func end() async {
        let generations = entries.withLock { $0.compactMap(\.generation) }
        await withTaskGroup { group in
            for generation in generations { group.addTask { await generation.end() } }
        }
    }

    /// Describes the plugin functions running on threads of the host, each with its plugin and connector.
    var functionsInside: [(path: String, text: String)] {
        let generations = entries.withLock { $0.compactMap(\.generation) }
        return generations.flatMap { generation in
            Set(generation.functionsInside.map(\.description)).map { function in
                let path = generation.plan.path
                return (path, "\(function) of the plugin \(generation.plugin) to return, for the connector \(path)")
            }
        }.sorted { $0 < $1 }
    }
}
