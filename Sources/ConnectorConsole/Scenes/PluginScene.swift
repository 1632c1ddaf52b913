// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
package import ConnectorManifest

/// A scene that a plugin's manifest describes, and the gates of the plugin.
package struct PluginScene: Sendable, Hashable {
    /// The root of its route.
    package var root: String
    /// The description.
    package var scene: ManifestScene
    /// The leaves that use the plugin, in the order of the file.
    package var gates: [String]
    /// The operation of its first call and the words for the arguments; nil if there is no call, or no words can make it.
    package var call: [String]?

    /// The maximum number of gates whose values a scene shows.
    private static let gateLimit = 8
    /// The roots that the web server uses for its own paths.
    private static let reserved: Set<String> = ["api", "livez", "readyz", "metrics", "-", "messages"]

    /// The scenes that the plugins of some leaves describe.
    ///
    /// A scene's root is its name or, if that is taken, the plugin's id and the name.
    ///
    /// - Parameter taken: The roots of other scenes.
    package static func scenes(
        of leaves: [(path: String, manifest: Manifest)],
        besides taken: Set<String>
    ) -> [PluginScene] {
        var roots = taken.union(reserved)
        var scenes: [PluginScene] = []
        var owners: [String] = []
        for leaf in leaves {
            for described in leaf.manifest.scenes {
                let owner = "\(leaf.manifest.id) \(described.name)"
                if let index = owners.firstIndex(of: owner) {
                    if scenes[index].gates.count < gateLimit { scenes[index].gates.append(leaf.path) }
                    continue
                }
                let root = roots.contains(described.name) ? "\(leaf.manifest.id).\(described.name)" : described.name
                guard roots.insert(root).inserted else { continue }
                owners.append(owner)
                let call = described.components.lazy.compactMap { $0.call(of: leaf.manifest) }.first
                scenes.append(PluginScene(root: root, scene: described, gates: [leaf.path], call: call))
            }
        }
        return scenes
    }

    /// The descriptor, which makes the scene from the answers to the model's calls and from events.
    var descriptor: SceneDescriptor {
        SceneDescriptor(host: root, title: scene.title) { context in
            guard context.route.parts.count == 1 else { return nil }
            var components: [Component] = []
            for gate in gates {
                for component in scene.components {
                    let feed = context.snapshot.feeds[PluginFeed.key(self, gate, component)]
                    components.append(component.component(of: gate, feed, isAlone: gates.count == 1, context))
                }
            }
            var made = Scene(context.route, scene.title, components)
            if let gate = gates.first, let call, let operation = call.first {
                let words = Array(call.dropFirst())
                made.commandLine = context.snapshot.commands.call(gate, operation, words, isDelivered: false)
            }
            return made
        }
    }
}

extension ManifestScene.Component {
    /// The operation of its call and the words for the arguments; nil if it makes no call, or no words can make it.
    fileprivate func call(of manifest: Manifest) -> [String]? {
        guard let operation, let (capability, definition) = manifest.callable.operation(named: operation)
        else { return nil }
        return ArgumentReader(definition, of: capability.id).words(for: arguments).map { [operation] + $0 }
    }

    /// The component with the rows of a gate, from its answer or its events.
    fileprivate func component(
        of gate: String,
        _ answer: PluginFeed?,
        isAlone: Bool,
        _ context: SceneContext
    ) -> Component {
        let name = title.isEmpty ? operation ?? events.joined(separator: ", ") : title
        let title = isAlone ? name : "\(gate): \(name)"
        let feed = operation == nil ? events(of: gate, in: context.snapshot) : answer
        let rows = feed?.rows ?? []
        let state = feed?.state ?? .loading
        let componentID = "\(gate) \(id)"
        switch shape {
        case .table:
            let headings = columns.map { Component.Column($0.title, isNumber: $0.isNumber) }
            return context.component(
                componentID,
                title: title,
                TableModel(headings, rows.enumerated().map { row($0.offset, $0.element) }),
                state
            )
        case .log:
            let lines = rows.map { cells in
                cells.enumerated().reduce(StyledText("")) { line, cell in
                    line + StyledText(cell.offset == 0 ? "" : "  ") + StyledText(cell.element)
                }
            }
            return context.component(componentID, title: title, LogModel(lines, from: feed?.dropped ?? 0), state)
        case .details:
            var details = DetailsModel()
            for (column, cell) in zip(columns, rows.first ?? []) { details.add(column.title, StyledText(cell)) }
            return context.component(componentID, title: title, details, state)
        case .chart:
            let series = columns.enumerated().filter(\.element.isNumber).map { index, column in
                Component.Series(
                    column.title,
                    .good,
                    rows.compactMap { $0.dropFirst(index).first.flatMap(Double.init) }.filter(\.isFinite)
                )
            }
            return context.component(componentID, title: title, ChartModel(rows.isEmpty ? [] : series), state)
        }
    }

    private func row(_ index: Int, _ cells: [String]) -> Row {
        Row("\(index)", cells.map { StyledText($0) }, link: nil)
    }

    /// The last events of a gate, as rows.
    private func events(of gate: String, in snapshot: ConsoleSnapshot) -> PluginFeed {
        var rows: [[String]] = []
        for event in snapshot.events where event.connector == gate && events.contains(event.name) {
            rows += PluginFeed.rows(of: event.payload, self)
        }
        let dropped = max(0, rows.count - PluginFeed.rowLimit) + snapshot.droppedEvents
        let state: ViewState = rows.isEmpty ? .empty("no events yet") : .loaded
        return PluginFeed(state: state, rows: rows.suffix(PluginFeed.rowLimit), dropped: dropped)
    }
}

extension PluginFeed {
    /// The key of a component's feed in snapshots.
    static func key(_ scene: PluginScene, _ gate: String, _ component: ManifestScene.Component) -> String {
        "\(scene.root) \(gate) \(component.id)"
    }
}
