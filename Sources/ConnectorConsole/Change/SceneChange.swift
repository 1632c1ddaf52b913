// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One difference between two scenes, so that a platform can update only what changed.
package enum SceneChange: Sendable, Hashable {
    /// The scene, or its list of components, was replaced: draw everything.
    case everything(Scene)
    /// The scene's acts or its command line changed.
    case acts([ConsoleAct], commandLine: String?)
    /// Something other than a component's rows changed; this is the component without rows. Changes of its rows follow.
    case frame(component: Int, Component)
    /// A row's contents changed.
    case update(component: Int, row: Int, Row)
    /// Rows were removed; the indices are those before this change.
    case remove(component: Int, rows: Range<Int>)
    /// Rows were inserted, the first one at this index.
    case insert(component: Int, at: Int, [Row])
}

extension Scene {
    /// The changes that turn another scene into this one; none if the two are equal.
    ///
    /// Takes time linear in the number of rows. Rows at the start and at the end whose ids match are compared one by one; the rows
    /// between them are replaced.
    package func changes(from old: Scene) -> [SceneChange] {
        let isComparable =
            route == old.route && title == old.title && mounted == old.mounted
            && components.count == old.components.count
            && zip(components, old.components).allSatisfy {
                $0.id == $1.id && $0.kind == $1.kind && $0.shape == $1.shape && $0.form == $1.form
            }
        guard isComparable else { return [.everything(self)] }
        var changes: [SceneChange] = []
        if acts != old.acts || commandLine != old.commandLine {
            changes.append(.acts(acts, commandLine: commandLine))
        }
        for (index, (new, old)) in zip(components, old.components).enumerated() {
            if new.frame != old.frame { changes.append(.frame(component: index, new.frame)) }
            changes += Self.changes(to: new.rows, from: old.rows, of: index)
        }
        return changes
    }

    private static func changes(to new: [Row], from old: [Row], of component: Int) -> [SceneChange] {
        var first = 0
        while first < min(new.count, old.count), new[first].id == old[first].id { first += 1 }
        var last = 0
        while last < min(new.count, old.count) - first,
            new[new.count - 1 - last].id == old[old.count - 1 - last].id
        { last += 1 }
        var changes: [SceneChange] = []
        for index in 0..<first where new[index] != old[index] {
            changes.append(.update(component: component, row: index, new[index]))
        }
        let removed = first..<(old.count - last)
        let inserted = first..<(new.count - last)
        // A log has scrolled: the oldest lines are gone, new ones are appended, and the rest stay.
        if last == 0, first == 0, let kept = old.firstIndex(where: { $0.id == new.first?.id }), kept > 0 {
            return [.remove(component: component, rows: 0..<kept)]
                + Self.changes(to: new, from: Array(old[kept...]), of: component)
        }
        if !removed.isEmpty { changes.append(.remove(component: component, rows: removed)) }
        if !inserted.isEmpty {
            changes.append(.insert(component: component, at: first, Array(new[inserted])))
        }
        for index in (new.count - last)..<new.count where new[index] != old[index - new.count + old.count] {
            changes.append(.update(component: component, row: index, new[index]))
        }
        return changes
    }

    /// Applies a change that ``changes(from:)`` found relative to a scene equal to this one.
    package mutating func apply(_ change: SceneChange) {
        switch change {
        case .everything(let scene): self = scene
        case .acts(let acts, let commandLine):
            self.acts = acts
            self.commandLine = commandLine
        case .frame(let component, var frame):
            frame.rows = components[component].rows
            components[component] = frame
        case .update(let component, let row, let value): components[component].rows[row] = value
        case .remove(let component, let rows): components[component].rows.removeSubrange(rows)
        case .insert(let component, let index, let rows):
            components[component].rows.insert(contentsOf: rows, at: index)
        }
    }
}

extension Component {
    /// The component without its rows.
    fileprivate var frame: Component {
        var frame = self
        frame.rows = []
        return frame
    }
}
