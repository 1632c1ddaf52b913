// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackagePlugin

/// Generates the exported functions of a plugin in Swift from its manifest.
///
/// The manifest is the only file `NAME.connector.json` in the target's folder, or else in its parent. Prefer the parent
/// if the built image is put beside the manifest, because a change in a target's folder makes SwiftPM plan the build
/// again.
@main
struct ConnectorManifestPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let folder = target.directoryURL
        var manifests = try manifests(in: folder)
        if manifests.isEmpty { manifests = try self.manifests(in: folder.deletingLastPathComponent()) }
        guard manifests.count == 1, let manifest = manifests.first else {
            let found = manifests.isEmpty ? "no" : "more than one"
            Diagnostics.error(
                "\(folder.path): there is \(found) NAME.connector.json, the manifest of the plugin, here or in the folder above"
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

    /// The manifests directly in a folder.
    private func manifests(in folder: URL) throws -> [URL] {
        try FileManager.default
            .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(".connector.json") }
    }
}
