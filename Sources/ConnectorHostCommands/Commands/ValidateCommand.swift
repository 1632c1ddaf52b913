// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorServices

/// `connector-host validate`: checks a configuration and the plugins that it names, without opening a gate.
struct ValidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Report every fault of a configuration, without opening a gate.",
        discussion: """
            One pass reports every fault, with line and column. Plugins are checked as by `inspect`, without running any: every \
            reason that prevents one from loading is reported. Events that wait where the file no longer looks are a warning, and so are \
            a directory of plugins that cannot be searched, and a proxy or SSL_CERT_FILE in the environment that cannot be used.

            Exit status: 0 if the configuration is valid and every plugin would load, 1 if a plugin would not or a file of answers \
            has faults, 2 if the configuration is invalid, 64 for wrong usage. With --simulate, secrets that are missing and plugins \
            that are not built are no faults where the gates would be simulated, and a gate that nothing simulates is one.

            Examples:
              connector-host validate
              connector-host validate --config staging.json --json
              connector-host validate --simulate
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Check whether the gates would open with --simulate.")
    var simulate = false

    @OptionGroup var answers: AnswersOption

    @OptionGroup var answer: OutputOptions

    func validate() throws { try answers.validate(isSimulated: simulate) }

    func run() async throws {
        let options = ConnectorHost.Options()
        let source = ConfigurationSource(
            options,
            simulating: answers.request(isSimulated: simulate),
            needsImages: false
        )
        let read = try await file.resolve(source, until: Interruption())
        let resolved: ResolvedConfiguration
        let plugins: PluginLookup
        do throws(ConfigurationErrors) {
            (resolved, plugins) = try read.get()
        } catch {
            answer.report(error.errors, omitted: error.omitted, isValidation: true)
            throw ExitStatus.invalidConfiguration
        }
        var document = ValidationDocument(resolved: resolved, plugins: plugins, isSimulated: simulate)
        document.warnings = plugins.warnings + resolved.warnings
        if !simulate {
            let stranded = await StrandedEvents.find(resolved.configuration, state: options.stateDirectory)
            document.warnings += [resolved.configuration.placeWarning].compactMap(\.self) + stranded.map(\.description)
            document.warnings += options.http.faults()
        }
        answer.output.write(document)
        if !document.problems.isEmpty { throw ExitStatus.failed }
    }
}
