// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// The events that plugins emit, as they arrive.
enum EventsScene {
    static let descriptor = SceneDescriptor(host: "events", title: "Events") { context in
        guard context.route.parts.count == 1 else { return nil }
        let events = context.snapshot.events
        let lines = events.map { event in
            StyledText("\(event.time)  ", .muted) + StyledText(event.connector, .link)
                + StyledText("  \(event.name)  ", .strong)
                + StyledText(event.explanation ?? (event.payload == .null ? "" : "\(event.payload)"))
        }
        let component =
            lines.isEmpty
            ? context.component("empty", LogModel.self, .empty("no events yet"))
            : context.component("events", LogModel(lines, from: context.snapshot.droppedEvents))
        var scene = Scene(context.route, "Events", [component])
        scene.commandLine = context.snapshot.commands.command("watch", takesSimulation: true)
        return scene
    }
}
