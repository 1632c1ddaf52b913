// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConsoleRegistry {
    /// The components and scenes of the host.
    public static let standard: ConsoleRegistry = {
        var registry = componentsAlone
        registry.showsModelScenes = true
        for scene in [
            GatesScene.descriptor, OutboxScene.descriptor, DeadLettersScene.descriptor, EventsScene.descriptor,
            PluginsScene.descriptor, ConfigurationScene.descriptor, PlanScene.descriptor,
        ] { registry.register(scene) }
        return registry
    }()
}
