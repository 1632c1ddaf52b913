// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorLoading

/// `connector-host inspect`: describes a plugin's file without running it.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describe a plugin's file without running it.",
        discussion: """
            Shows the manifest, the platform and compiler of the image, its digest, the libraries and symbol versions it needs,
            whether it exports each function that the manifest names, and every problem that prevents it from loading.

            Exit status: 0 if it would load here, 1 if it would not, 64 for wrong usage.

            Examples:
              connector-host inspect Plugins/kinto/libkinto.so
              connector-host inspect zlib.connector.json --json
            """
    )

    @Argument(
        help: "A shared library, or a NAME.connector.json.",
        completion: .file(extensions: ["so", "dylib", "json"])
    )
    var file: String

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        let inspection = PluginInspection(path: file)
        answer.output.write(InspectionDocument(inspection: inspection))
        if !inspection.problems.isEmpty { throw ExitStatus.failed }
    }
}
