// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The host's configuration: the connectors, and each field of their plugins with its source. Secrets appear as references.
enum ConfigurationScene {
    static let descriptor = SceneDescriptor(host: "configuration", title: "Config") { context in
        guard context.route.parts.count == 1 else { return nil }
        guard let configuration = context.snapshot.configuration else {
            let notice = NoticeModel(StyledText("the host has no configuration file", .muted))
            return Scene(context.route, "Configuration", [context.component("empty", notice)])
        }
        var details = DetailsModel()
        details.add("file", StyledText(configuration.file.isEmpty ? "none" : configuration.file, .strong))
        let included = configuration.includedFiles
        if !included.isEmpty { details.add("includes", StyledText(included.joined(separator: ", "))) }
        details.add("name", configuration.name.map { StyledText($0) })
        details.add("plugins", StyledText(configuration.pluginDirectories.joined(separator: ", ")))
        details.add("state", configuration.stateDirectory.map { StyledText($0) })
        details.add("trust", configuration.requiresTrust ? "strict" : "warn")
        let report = context.snapshot.report.configuration
        let differs = report?.differs ?? false
        details.add(
            "changes",
            StyledText(
                differs ? "the file differs from what runs" : "what a reload would change",
                differs ? .warning : .link
            ),
            link: .plan
        )
        details.add(
            "watched",
            report?.watching.map { StyledText($0.hasEvents ? "yes" : "by polling: \($0.reason ?? "")") }
        )
        let leaves = context.snapshot.leaves
        let known = Dictionary(leaves.map { ($0.path, $0) }) { first, _ in first }
        let rows = configuration.connectors.flatMap { Self.rows($0, depth: 0, known) }
        let columns = ["connector", "uses", "timeout", "probe interval", "after", "events"].map { Component.Column($0) }
        var components = [
            context.component("file", details),
            context.component("connectors", title: "Connectors", TreeModel(columns, rows)),
        ]
        let fields = leaves.flatMap { [included = Set(included)] in Self.fields(of: $0, included) }
        if !fields.isEmpty {
            let columns =
                ["connector", "field", "value", "from"].map { Component.Column($0) }
                + [Component.Column("line", isNumber: true)]
            components.append(context.component("fields", title: "Fields", TableModel(columns, fields)))
        }
        var scene = Scene(context.route, "Configuration", components)
        scene.commandLine = context.snapshot.commands.command("validate")
        return scene
    }

    /// The rows of a connector and everything below it.
    ///
    /// - Parameter leaves: The configuration of the enabled leaves, by path.
    private static func rows(_ connector: Connector, depth: Int, _ leaves: [String: ConfiguredLeaf]) -> [Row] {
        let uses: String =
            switch connector.kind {
            case .leaf(let leaf): leaf.plugin.name.withGivenPaths
            case .composite(let policy, _): "\(policy)"
            case .same(let path): "same as \(path)"
            }
        let isLeaf = connector.children.isEmpty
        let leaf = leaves[connector.path]
        let probeInterval = leaf.map(\.probeInterval) ?? connector.probeInterval
        let row = Row(
            connector.path,
            [
                StyledText(connector.name, isLeaf ? .text : .strong)
                    + StyledText(connector.isEnabled ? "" : " (disabled)", .muted),
                StyledText(uses, isLeaf ? .text : .muted),
                StyledText((leaf?.timeout ?? connector.timeout)?.brief ?? ""),
                StyledText(isLeaf ? probeInterval?.brief ?? "never" : ""),
                StyledText(connector.after.joined(separator: ", ")),
                StyledText(delivery(of: connector, leaves), .muted),
            ],
            depth: depth,
            link: connector.isEnabled ? .gate(connector.path) : nil
        )
        return [row] + connector.children.flatMap { Self.rows($0, depth: depth + 1, leaves) }
    }

    /// How a connector's events are delivered; `none` if no operation sends events, as in a database.
    private static func delivery(of connector: Connector, _ leaves: [String: ConfiguredLeaf]) -> String {
        // Under the policy `all`, each child has a delivery of its own.
        if case .all? = connector.policy { return "" }
        switch sendsEvents(connector, leaves) {
        case true?: return connector.delivery == nil ? "direct" : "queued"
        case false?: return "none"
        case nil: return ""
        }
    }

    /// Whether a connector, or a leaf below it, sends events; nil if unknown, because a plugin was not found or a leaf is
    /// disabled.
    private static func sendsEvents(_ connector: Connector, _ leaves: [String: ConfiguredLeaf]) -> Bool? {
        guard !connector.children.isEmpty else { return leaves[connector.path]?.sendsEvents }
        let answers = connector.children.map { sendsEvents($0, leaves) }
        return answers.contains(true) ? true : answers.contains(nil) ? nil : false
    }

    // MARK: Fields

    private static func fields(of leaf: ConfiguredLeaf, _ included: Set<String>) -> [Row] {
        leaf.fields.map { field in
            Row(
                "\(leaf.path) \(field.name)",
                [
                    StyledText(leaf.path), StyledText(field.name, .strong), value(of: field),
                    StyledText(source(of: field), .muted),
                    StyledText(field.position.map { line($0, included) } ?? "", .muted),
                ],
                link: .gate(leaf.path)
            )
        }
    }

    /// The line number, after the file's name if it is an included file.
    private static func line(_ position: FilePosition, _ included: Set<String>) -> String {
        included.contains(position.file) ? "\(position.file):\(position.line)" : "\(position.line)"
    }

    private static func value(of field: ConfiguredField) -> StyledText {
        switch field.value {
        case .shown(let text): StyledText(text)
        case .secret(let reference): StyledText("secret", .muted) + StyledText(reference.map { " \($0)" } ?? "")
        case .unknown: StyledText("hidden: the plugin's manifest was not found", .muted)
        case .withheld: StyledText("hidden: for those who may act", .muted)
        }
    }

    private static func source(of field: ConfiguredField) -> String {
        switch field.source {
        case .file: field.position == nil ? "application" : "file"
        case .environment(let names): "environment \(names.joined(separator: ", "))"
        case .fallback(let names): "default: \(names.joined(separator: ", ")) unset"
        case .secretFile: "secret's file"
        case .command: "command"
        case .manifest: "plugin's default"
        case .simulator: "simulator"
        }
    }
}
