// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// What the host was made from, without the plugins' own fields, which may hold what nobody is to read.
enum ConfigurationScene {
    static let descriptor = SceneDescriptor("configuration", title: "Config") { context in
        guard context.route.parts.count == 1 else { return nil }
        guard let configuration = context.snapshot.configuration else {
            let notice = NoticeModel(StyledText("the host was not made from a file", .muted))
            return Scene(context.route, "Configuration", [context.component("empty", notice)])
        }
        var details = DetailsModel()
        details.add("file", StyledText(configuration.file.isEmpty ? "none" : configuration.file, .strong))
        details.add("name", configuration.name.map { StyledText($0) })
        details.add("plugins", StyledText(configuration.pluginDirectories.joined(separator: ", ")))
        details.add("state", configuration.stateDirectory.map { StyledText($0) })
        details.add("trust", configuration.requiresTrust ? "strict" : "warn")
        let rows = configuration.connectors.flatMap { Self.rows($0, depth: 0) }
        let columns = ["connector", "uses", "timeout", "proved every", "after", "events"].map { Component.Column($0) }
        var scene = Scene(
            context.route,
            "Configuration",
            [
                context.component("file", details),
                context.component("connectors", title: "Connectors", TreeModel(columns, rows)),
            ]
        )
        scene.commandLine = context.snapshot.commands.command("validate")
        return scene
    }

    private static func rows(_ connector: Connector, depth: Int) -> [Row] {
        let uses: String =
            switch connector.kind {
            case .leaf(let leaf): leaf.plugin.name
            case .composite(let policy, _): "\(policy)"
            }
        let isLeaf = connector.children.isEmpty
        let row = Row(
            connector.path,
            [
                StyledText(connector.name, isLeaf ? .text : .strong)
                    + StyledText(connector.isEnabled ? "" : " (disabled)", .muted),
                StyledText(uses, isLeaf ? .text : .muted),
                StyledText(connector.timeout?.brief ?? ""),
                StyledText(isLeaf ? connector.probeInterval?.brief ?? "never" : ""),
                StyledText(connector.after.joined(separator: ", ")),
                StyledText(isLeaf ? (connector.delivery == nil ? "direct" : "queued") : "", .muted),
            ],
            depth: depth,
            link: connector.isEnabled ? .gate(connector.path) : nil
        )
        return [row] + connector.children.flatMap { Self.rows($0, depth: depth + 1) }
    }
}
