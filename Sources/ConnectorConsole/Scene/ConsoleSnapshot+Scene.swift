// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConsoleSnapshot {
    /// The scene with the current states of its acts.
    func stamped(_ scene: Scene) -> Scene {
        guard !acts.isEmpty else { return scene }
        var scene = scene
        scene.acts = stamped(scene.acts)
        for component in scene.components.indices {
            let rows = scene.components[component].rows
            for row in rows.indices where !rows[row].acts.isEmpty {
                scene.components[component].rows[row].acts = stamped(rows[row].acts)
            }
            guard let act = scene.components[component].form?.actID, let state = acts[act] else { continue }
            scene.components[component].state = state
        }
        return scene
    }

    private func stamped(_ acts: [ConsoleAct]) -> [ConsoleAct] {
        acts.map { act in
            guard let state = self.acts[act.id] else { return act }
            var act = act
            act.state = state
            return act
        }
    }
}
