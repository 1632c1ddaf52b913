// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackagePlugin

/// Generates the exported functions of a plugin in Swift from the manifest in its target's folder.
///
/// The manifest is the one file `NAME.connector.json` there; the same file serves beside the built image as its sidecar.
@main
struct ConnectorManifestPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let manifests = try FileManager.default
            .contentsOfDirectory(at: target.directoryURL, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(".connector.json") }
        guard manifests.count == 1, let manifest = manifests.first else {
            let found = manifests.isEmpty ? "no" : "more than one"
            Diagnostics.error(
                "\(target.directoryURL.path): there is \(found) NAME.connector.json, the manifest of the plugin"
            )
            return []
        }
        let output = context.pluginWorkDirectoryURL.appending(path: "ConnectorManifest.generated.swift")
        return [
            .buildCommand(
                displayName: "Reading the manifest \(manifest.lastPathComponent)",
                executable: try context.tool(named: "connector-manifest").url,
                arguments: [manifest.path, output.path],
                inputFiles: [manifest],
                outputFiles: [output]
            )
        ]
    }
}
