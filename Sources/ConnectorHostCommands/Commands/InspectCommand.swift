// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorLoading

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// `connector-host inspect`: describes a plugin's file, without running the plugin unless `--probe` is given.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describe a plugin's file without running it.",
        discussion: """
            Shows the manifest, the platform and compiler of the image, its digest, the libraries and symbol versions it needs, \
            whether it exports each function that the manifest names, and every problem that prevents it from loading.

            With --probe, a plugin that would load here is really loaded and opened, in a runner that is thrown away afterwards: sandboxed, \
            without a host that it may reach, and with placeholders for what its configuration requires.

            Exit status: 0 if it would load here, 1 if it would not, or fails in its runner, 64 for wrong usage.

            Examples:
              connector-host inspect Plugins/kinto/libkinto.so
              connector-host inspect kinto
              connector-host inspect zlib.connector.json --json
              connector-host inspect --probe build/libmine.so
            """
    )

    @Argument(
        help: "A shared library, a NAME.connector.json, or the id of a plugin in the plugin directories.",
        completion: .file(extensions: ["so", "dylib", "json"])
    )
    var file: String

    @Flag(help: "Really load and open the plugin, in a runner that is thrown away.")
    var probe = false

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        // A plugin that is not found is a file that does not exist: its inspection says so.
        let isFile = unsafe access(file, F_OK) == 0
        let isID = !isFile && !file.contains("/")
        let file = isID ? (try? ConformanceSubject.path(ofPlugin: file)) ?? file : file
        let inspection = PluginInspection(path: file)
        var document = InspectionDocument(inspection: inspection)
        if probe, inspection.problems.isEmpty, let manifest = inspection.manifest {
            let interruption = Interruption()
            document.probe = await PluginProbe.run(file, manifest, interruption)
            if let status = interruption.exitStatus { throw status }
        }
        answer.output.write(document)
        if !inspection.problems.isEmpty || document.probe?.outcome == .fails { throw ExitStatus.failed }
    }
}
