// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How much may still be mounted in the slots of a scene.
struct SlotBudget {
    /// The maximum depth of scenes within scenes.
    static let depth = 8
    /// The number of scenes that may still be mounted.
    var scenes = 64
}

/// Mounts scenes in the slots of scenes.
extension ConsoleRegistry {
    /// The scene of a route, with the scenes in its slots.
    ///
    /// - Parameter outer: The routes of the scenes that contain it.
    func scene(for route: Route, of snapshot: ConsoleSnapshot, below outer: [Route], _ budget: inout SlotBudget)
        -> Scene
    {
        guard snapshot.covers(route) else {
            return Scene(route, "…", [component("waiting", title: "", NoticeModel.self, .loading)])
        }
        if let found = build(route, snapshot)?.scene { return mounted(found, of: snapshot, below: outer, &budget) }
        let notice = NoticeModel(StyledText("there is nothing at \(route)", .warning))
        return Scene(route, "Not found", [component("missing", notice)])
    }

    /// The scene, with each slot replaced by the scenes mounted in it.
    func mounted(_ scene: Scene, of snapshot: ConsoleSnapshot, below outer: [Route], _ budget: inout SlotBudget)
        -> Scene
    {
        guard scene.components.contains(where: { $0.slot != nil }) else { return scene }
        var mounted = scene
        mounted.components = []
        let outer = outer + [scene.route]
        for component in scene.components {
            guard let slot = component.slot else {
                mounted.components.append(component)
                continue
            }
            mounted.mounted += slot.entries.map(\.route)
            mounted.components += slot.head(component.title)
            for entry in slot.shown {
                let inner = inner(entry.route, of: snapshot, below: outer, &budget)
                mounted.mounted += inner.mounted
                mounted.components += components(of: inner, in: slot.slot)
            }
        }
        return mounted
    }

    /// The scene of a route within others; a warning in its place if they nest too deeply or one contains itself.
    private func inner(
        _ route: Route,
        of snapshot: ConsoleSnapshot,
        below outer: [Route],
        _ budget: inout SlotBudget
    ) -> Scene {
        budget.scenes -= 1
        let problem: String? =
            if outer.contains(route) {
                "\(route) cannot be mounted in itself"
            } else if outer.count >= SlotBudget.depth || budget.scenes < 0 {
                "\(route) is not mounted: too many scenes in slots"
            } else {
                nil
            }
        guard let problem else { return scene(for: route, of: snapshot, below: outer, &budget) }
        return Scene(route, "", [component("problem", NoticeModel(StyledText(problem, .warning)))])
    }

    /// The components of a mounted scene, with buttons for its acts. Their ids are prefixed with the slot's name and the route.
    private func components(of scene: Scene, in slot: Slot) -> [Component] {
        var components = scene.components
        if !scene.acts.isEmpty { components.insert(component("acts", ButtonsModel(scene.acts)), at: 0) }
        for index in components.indices {
            components[index].id = "\(slot.name)\(scene.route)#\(components[index].id)"
        }
        if slot.arrangement == .nested, let first = components.first, first.title.isEmpty {
            components[0].title = scene.title
        }
        return components
    }
}

extension MountedSlot {
    /// The entries whose scenes are shown.
    fileprivate var shown: [Slot.Entry] {
        switch slot.arrangement {
        case .hidden: []
        case .stack: entries.suffix(1)
        case .tabs: entries.indices.contains(selected) ? [entries[selected]] : []
        default: entries
        }
    }

    /// The component above the mounted scenes: the title, with links to the entries if the slot shows one at a time.
    fileprivate func head(_ title: String) -> [Component] {
        let current: Int
        switch slot.arrangement {
        case .tabs: current = selected
        case .stack where entries.count > 1: current = entries.count - 1
        default:
            guard !title.isEmpty, slot.arrangement != .hidden else { return [] }
            return [Component(id: slot.name, kind: "slot", shape: .notice, title: title)]
        }
        var component = Component(id: slot.name, kind: "slot", shape: .tabs, title: title)
        component.rows = entries.enumerated().map { index, entry in
            let isCurrent = index == current
            return Row(
                "\(index)",
                [StyledText(isCurrent ? "● " : "○ ", .muted) + StyledText(entry.title, isCurrent ? .strong : .link)],
                link: entry.link
            )
        }
        return [component]
    }
}
