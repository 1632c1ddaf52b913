// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest

/// `connector-host diff`: compares two images of a plugin and says what would break.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two images of a plugin, and say who breaks.",
        discussion: """
            Compares manifests, signatures, configuration fields, services, hosts, libraries and sizes. No plugin code runs. What \
            breaks callers or files is marked, and so is what the second image newly wants. Names the connectors of connectors.json, \
            or of --config, that use the plugin.

            Exit status: 0 if the second image can take the place of the first, 1 if it cannot, 2 if a file has no manifest or \
            cannot be read, 64 for wrong usage.

            Examples:
              connector-host diff Plugins/kinto/libkinto.so build/libkinto.so
              connector-host diff old.so new.so --json
            """
    )

    @Argument(help: "The image in use.", completion: .file(extensions: ["so", "dylib", "json"]))
    var old: String

    @Argument(help: "The image to take its place.", completion: .file(extensions: ["so", "dylib", "json"]))
    var new: String

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        let inspections = (PluginInspection(path: old), PluginInspection(path: new))
        guard let first = inspections.0.manifest, let second = inspections.1.manifest,
            let before = LockedPlugin(inspections.0), let after = LockedPlugin(inspections.1)
        else {
            let missing = ConnectorError(.noManifest, "a file has no manifest that can be read")
            let problems = [inspections.0, inspections.1].filter { $0.manifest == nil || $0.size == nil }
            answer.report(problems.map { $0.problems.first ?? missing })
            throw ExitStatus.invalidConfiguration
        }
        let comparison = PluginComparison(before, first, after, second)
        let document = DiffDocument(
            old: before,
            new: after,
            comparison: comparison,
            users: try users(of: first.id)
        )
        answer.output.write(document)
        if !comparison.isCompatible { throw ExitStatus.failed }
    }

    /// The connectors of the configuration that use a plugin; none without a configuration.
    private func users(of id: String) throws -> [DiffDocument.User] {
        let options = ConnectorHost.Options()
        let (read, problems, omitted) = Configuration.examine(file: file.file, environment: options.environment)
        guard let configuration = read else {
            guard file.isExplicit else { return [] }
            answer.report(problems, omitted: omitted)
            throw ExitStatus.invalidConfiguration
        }
        let lookup = PluginLookup(configuration: configuration, options: options)
        let leaves = configuration.allConnectors.filter { connector in
            guard case .leaf(let leaf) = connector.kind else { return false }
            return leaf.plugin.name == id || (leaf.plugin.isPath && (try? lookup.manifest(leaf.plugin).get())?.id == id)
        }
        let paths = leaves.map(\.path)
        // A connector whose plugin uses the leaf, or a composite above it, calls the leaf.
        let callers = configuration.allConnectors.flatMap { connector in
            connector.with.values.sorted().filter { target in
                paths.contains { $0 == target || $0.hasPrefix(target + "/") }
            }.map { DiffDocument.User(path: connector.path, uses: $0) }
        }
        return paths.map { DiffDocument.User(path: $0, uses: nil) } + callers
    }
}
