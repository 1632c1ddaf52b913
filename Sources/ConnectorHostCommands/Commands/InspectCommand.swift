// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorPlatform

/// `connector-host inspect`: describes a plugin's file, without running the plugin unless `--probe` is given.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describe a plugin's file without running it.",
        discussion: """
            Shows the manifest, the platform and compiler of the image, its digest, the libraries and symbol versions it needs, \
            whether it exports each function that the manifest names, and every problem that prevents it from loading. An id is \
            looked for in the directories of connectors.json, in those in CONNECTOR_PLUGIN_PATH, and beside the program. If there is a \
            connectors.json, its "trust" and its lock must admit the file.

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

    @OptionGroup var source: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        var file = file
        var failure: ConnectorError?
        if ConformanceSubject.isID(file) {
            do throws(ConnectorError) {
                file = try ConformanceSubject.path(ofPlugin: file, in: source.file, isRequired: source.isExplicit)
            } catch {
                // The word may also be meant as a file, so the inspection says that there is none.
                failure = error
            }
        }
        var inspection = PluginInspection(path: file)
        if let failure { inspection.problems.append(failure) }
        let admission = admit(file, &inspection)
        var document = InspectionDocument(inspection: inspection)
        if probe, inspection.problems.isEmpty, let manifest = inspection.manifest {
            let interruption = Interruption()
            document.probe = await PluginProbe.run(file, manifest, admission, interruption)
            if let status = interruption.exitStatus { throw status }
        }
        answer.output.write(document)
        if !inspection.problems.isEmpty || document.probe?.outcome == .fails { throw ExitStatus.failed }
    }

    /// Adds why a host with the configuration would not load a file that it could load otherwise. Faults of the configuration
    /// count only if the plugin is to be run: a host with a faulty file loads none. A variable that every host refuses always counts.
    ///
    /// - Returns: The lock and the keys of the configuration.
    private func admit(_ file: String, _ inspection: inout PluginInspection) -> PluginAdmission {
        let options = ConnectorHost.Options()
        inspection.problems = options.pathProblems + inspection.problems
        let (configuration, problems, _) = Configuration.examine(file: source.file, environment: options.environment)
        let isAbsent = configuration == nil && problems.allSatisfy { $0.code == .notFound }
        let isFaulty = !problems.isEmpty && (!isAbsent || source.isExplicit)
        if probe, isFaulty { inspection.problems += problems }
        guard let configuration else { return PluginAdmission() }
        let lookup = PluginLookup(configuration: configuration, options: options)
        if inspection.problems.isEmpty, let candidate = PluginCatalog.entry(path: file.absolutePath).candidate,
            let refusal = lookup.refusal(of: candidate)
        {
            inspection.problems.append(refusal)
        }
        return lookup.admission
    }
}
