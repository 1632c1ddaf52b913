// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost

/// `connector-host plugins`: lists every file in the plugin directories, usable or not, without running any unless `--probe` is given.
struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "List every plugin, and why a file is not usable.",
        discussion: """
            Searches the directories in the configuration, those in CONNECTOR_PLUGIN_PATH, and the directory of the program. No \
            plugin code runs, but with --probe: then each usable plugin is really loaded and opened, in a runner that is thrown away \
            afterwards. Without a connectors.json, only the latter two are searched. If a host runs on the same file, the images that its \
            process has loaded are listed, too: they stay in memory until it ends, also those that a swap has replaced. What the \
            lock or the keys of the configuration do not admit is not usable.

            Exit status: 0, even if a file is not usable; 1 if a plugin fails in its runner; 2 if the configuration cannot be read or, with \
            --probe, is invalid; 64 for wrong usage.

            Examples:
              connector-host plugins
              CONNECTOR_PLUGIN_PATH=build connector-host plugins --json
              connector-host plugins --probe
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Really load and open each usable plugin, in a runner that is thrown away.")
    var probe = false

    @OptionGroup var attach: AttachOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        var document = PluginsDocument(
            try file.lookup(ConnectorHost.Options(), runsPlugins: probe, answer: answer)
        )
        if probe { try await document.probe() }
        do throws(ConnectorError) {
            if let host = try await attach.host(of: file, on: [.control, .simulated]) {
                guard let images = PluginListing.images(json: try await host.document("/api/v1/images")) else {
                    throw host.incompatible("a list")
                }
                document.add(images, of: host.identity.process)
            }
        } catch {
            answer.report([error])
            throw ExitStatus.failed
        }
        answer.output.write(document)
        if document.hasFailedProbe { throw ExitStatus.failed }
    }
}
