// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The scenes of plugins: the list of all plugins, and one plugin.
enum PluginsScene {
    static let descriptor = SceneDescriptor(host: "plugins", title: "Plugins") { context in
        switch context.route.parts.count {
        case 1: list(context)
        case 2: plugin(context, named: context.route.parts[1])
        default: nil
        }
    }

    private static func list(_ context: SceneContext) -> Scene {
        let plugins = context.snapshot.plugins
        let rows = plugins.map { plugin in
            let mark = plugin.problem == nil ? StyledText("✓ ", .good) : StyledText("✗ ", .bad)
            let capabilities = plugin.manifest?.capabilities.map(\.id.description).joined(separator: " ") ?? ""
            return Row(
                plugin.path,
                [
                    mark + StyledText(plugin.manifest?.id ?? "?"),
                    StyledText(plugin.manifest.map { "\($0.version)" } ?? ""),
                    StyledText(capabilities), StyledText(plugin.manifest?.language ?? "", .muted),
                    StyledText(plugin.level.map { "\($0)" } ?? ""),
                    plugin.problem.map { StyledText($0, .bad) } ?? StyledText(plugin.path, .muted),
                ],
                link: .plugin(plugin.name)
            )
        }
        let columns = ["plugin", "version", "capabilities", "language", "level", "file"].map { Component.Column($0) }
        let component =
            rows.isEmpty
            ? context.component("empty", TableModel.self, .empty("no plugins found"))
            : context.component("plugins", TableModel(columns, rows))
        var scene = Scene(context.route, "Plugins", [component, memory(context)].compactMap(\.self))
        scene.commandLine = context.snapshot.commands.command("plugins")
        return scene
    }

    /// The images in memory, of some files or of all; nil if there are none.
    private static func memory(_ context: SceneContext, of paths: Set<String>? = nil) -> Component? {
        let files = context.snapshot.images.filter { paths?.contains($0.path) ?? true }
        guard !files.isEmpty else { return nil }
        let rows = files.map { file in
            Row(
                file.path,
                [
                    StyledText(file.path), StyledText(file.text),
                    StyledText(file.images.flatMap(\.connectors).joined(separator: ", "), .muted),
                ]
            )
        }
        let columns = ["file", "until the process ends", "used by"].map { Component.Column($0) }
        return context.component("images", title: "Loaded", TableModel(columns, rows))
    }

    private static func plugin(_ context: SceneContext, named name: String) -> Scene? {
        let plugins = context.snapshot.plugins.filter { $0.name == name }
        guard let plugin = plugins.first else { return nil }
        var details = DetailsModel()
        details.add("plugin", StyledText(plugin.name, .strong))
        details.add("version", plugin.manifest.map { "\("\($0.version)")" })
        details.add("description", plugin.manifest.map { StyledText($0.documentation) })
        details.add("language", plugin.manifest?.language.map { StyledText($0) })
        details.add("services", plugin.manifest.map { StyledText($0.requiredServices.joined(separator: " ")) })
        details.add(
            "uses",
            plugin.manifest.flatMap { manifest in
                let uses = manifest.uses.map(\.description)
                return uses.isEmpty ? nil : StyledText(uses.joined(separator: ", "))
            }
        )
        details.add("egress", plugin.manifest.map { StyledText($0.egress.joined(separator: " ")) })
        for (index, plugin) in plugins.enumerated() {
            details.add(index == 0 ? "file" : "also \(index)", StyledText(plugin.path))
            let number = index == 0 ? "" : " \(index)"
            details.add("conformance\(number)", plugin.level.map { StyledText("level \($0) of 10", .good) })
            details.add("problem\(number)", plugin.problem.map { StyledText($0, .bad) })
        }
        var components = [context.component("plugin", details)]
        if let images = memory(context, of: Set(plugins.map(\.path))) { components.append(images) }
        let users = context.snapshot.report.gates.filter { $0.plugin?.id == name }
        if !users.isEmpty {
            let rows = users.map {
                Row(
                    $0.path,
                    [$0.mark + StyledText($0.path), StyledText($0.state.rawValue, $0.style)],
                    link: .gate($0.path)
                )
            }
            components.append(context.component("gates", title: "Gates", TableModel([], rows)))
        }
        let operations = (plugin.manifest?.callable ?? []).flatMap { capability in
            capability.operations.map { operation in
                Row(
                    "\(capability.id) \(operation.name)",
                    [
                        StyledText(operation.name), StyledText("\(capability.id)", .muted),
                        StyledText(operation.signature.description),
                    ]
                )
            }
        }
        if !operations.isEmpty {
            let columns: [Component.Column] = [.init("operation"), .init("capability"), .init("signature")]
            components.append(context.component("operations", title: "Operations", TableModel(columns, operations)))
        }
        var scene = Scene(context.route, name, components)
        scene.commandLine = CommandLineText.command(["connector-host", "inspect", plugin.path])
        return scene
    }
}
