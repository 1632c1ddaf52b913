// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorHostTesting
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorSimulator

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// `connector-host test`: checks a plugin against the rules, each in a process of its own.
struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Check a plugin against the rules, each in a process of its own, and name its level.",
        discussion: """
            Opens, cancels, closes and destroys instances, calls operations, and watches what the plugin does. Rules that need an \
            open gate use a simulator that comes with the host, or --answers. connector-host reference conformance lists the rules.

            An id stands for the plugin that a host on connectors.json would load: the lock and "trust" must admit it. A file that is \
            named by its path is checked before it is locked.

            A plugin has a level if it keeps every rule up to it; a rule that could not be checked counts as broken. \
            Without --strict, that is level 5, for which no vendor need answer.

            Exit status: 0 if the plugin has the level of --strict, 1 if not or if --certify cannot write, 64 for wrong usage; \
            130 after Ctrl-C and 143 after SIGTERM, once the processes of the checks have ended.

            Examples:
              connector-host test librates.so
              connector-host test librates.so --answers answers.json --strict 10 --certify
              connector-host test librates.so --only fuzz-operations --seed 42 --runs 1000
              connector-host test segment --strict 8 --format junit
            """
    )

    @Argument(
        help: "A shared library, a NAME.connector.json, or the id of a plugin in the plugin directories.",
        completion: .file(extensions: ["so", "dylib", "json"])
    )
    var plugin: String

    @Option(help: ArgumentHelp("The connector's config: JSON, or a file of it.", valueName: "json"))
    var config: String?

    @Option(
        help: ArgumentHelp("What the vendor answers, as in \"simulate\": a file.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var answers: String?

    @Option(name: .customLong("in"), help: "Where gates run: process, or runner for a process beside it.")
    var location = Location.process

    @Option(help: ArgumentHelp("The level that the plugin must have, 1 to 10.", valueName: "level"))
    var strict = 5

    @Option(help: ArgumentHelp("Check this rule alone; repeat it for several.", valueName: "rule"))
    var only: [String] = []

    @Option(help: ArgumentHelp("What values are generated from: the same seed repeats them.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How many generated calls of each operation there are.", valueName: "count"))
    var runs = 40

    @Option(
        help: ArgumentHelp("The longest that a function or a call may take. (default: 2s)", valueName: "duration"),
        transform: Duration.argument
    )
    var timeout: Duration?

    @Option(help: "How many rules are checked at once.")
    var jobs = 2

    @Option(help: "The form of the answer: text, tap, junit or json.")
    var format = ConformanceFormat.text

    @Flag(help: "Write the level into conformance.json beside the image, for inspect and plugins to show.")
    var certify = false

    @Flag(help: "Load the image from its own file instead of a sealed copy, for debuggers and profilers.")
    var unsealed = false

    @Flag(help: "Check again whenever the file changes, until Ctrl-C.")
    var watch = false

    @Option(help: .hidden)
    var report: String?

    /// Where the gates run during the checks.
    enum Location: String, ExpressibleByArgument, CaseIterable {
        case process
        case runner
    }

    func validate() throws {
        guard (1...10).contains(strict) else { throw ValidationError("--strict is a level from 1 to 10") }
        guard (1...1_000_000).contains(runs) else { throw ValidationError("--runs is from 1 to 1000000") }
        guard (1...64).contains(jobs) else { throw ValidationError("--jobs is from 1 to 64") }
        guard only.isEmpty || !certify else { throw ValidationError("--certify needs all rules: do without --only") }
        for id in only where PluginConformance.Rule.named(id) == nil {
            let known = PluginConformance.Rule.all.map(\.id)
            throw ValidationError(
                "there is no rule \"\(id.excerpt)\"; \(suggestion(for: id, among: known) ?? "connector-host reference conformance lists them")"
            )
        }
    }

    func run() async throws {
        let output = Output(format: format == .json ? .json : .text, style: .detected(for: .output))
        let path: String
        let options: PluginConformance.Options
        do throws(ConnectorError) {
            path = try ConformanceSubject.path(of: plugin)
            options = try conformanceOptions()
        } catch {
            fail(error)
            throw ExitStatus.failed
        }
        if let report { return await checkOne(path, options, report: report) }
        let session = ConformanceSession(
            path: path,
            options: options,
            strict: strict,
            only: Set(only),
            jobs: jobs,
            childArguments: childArguments
        )
        let interruption = Interruption()
        while true {
            let stamp = FileStamp(path: path)
            let report = await interruption.cancelling { await session.run() }
            if let status = interruption.exitStatus { throw status }
            let failure = certify ? certificateFailure(of: report) : nil
            show(report, failure, output)
            if !watch || StandardStream.outputFailure != nil {
                guard report.isPassed, failure == nil else { throw ExitStatus.failed }
                return
            }
            _ = await interruption.cancelling { try? await ConformanceSubject.change(of: path, since: stamp) }
            if let status = interruption.exitStatus { throw status }
        }
    }

    /// Shows an error of the command.
    private func fail(_ error: ConnectorError) {
        OutputOptions(isJSON: format == .json).report([error])
    }

    /// Shows the report and, if the certificate could not be written, the reason.
    private func show(_ report: ConformanceReport, _ failure: ConnectorError?, _ output: Output) {
        let document = ConformanceDocument(report: report, again: rerunArguments, command: plugin, failure: failure)
        switch format {
        case .text, .json: output.write(document)
        case .tap: StandardStream.output.write(document.tap)
        case .junit: StandardStream.output.write(document.junit)
        }
        if let failure, format != .json { fail(failure) }
    }

    /// Writes the certificate, unless there is no level to certify.
    ///
    /// - Returns: The error if it could not be written.
    private func certificateFailure(of report: ConformanceReport) -> ConnectorError? {
        guard report.level > 0, let sha256 = report.sha256, let plugin = report.plugin else { return nil }
        let certificate = ConformanceCertificate(
            file: report.path.lastPathComponent,
            plugin: plugin,
            sha256: sha256,
            level: report.level,
            host: ConnectorHost.version
        )
        do throws(ConnectorError) {
            try certificate.write(beside: report.path)
            return nil
        } catch {
            return error
        }
    }

    /// Checks one rule in this process, on behalf of the command that started it.
    private func checkOne(_ path: String, _ options: PluginConformance.Options, report: String) async {
        guard let rule = only.first.flatMap(PluginConformance.Rule.named) else { return }
        // The command kills this process in time, unless the command itself was killed.
        alarm(RuleProcess.timeout + 1)
        CrashNote.install(file: RuleProcess.crashFile(in: report))
        SealedImage.loadsInPlace = unsealed
        var options = options
        options.scratch = RuleProcess.scratch(in: report)
        let answer = await PluginConformance.check(
            rule,
            of: path,
            options: options,
            trace: RuleProcess.traceFile(in: report)
        )
        try? OutputFile.replace(RuleProcess.answerFile(in: report), with: answer.json.utf8())
    }

    private func conformanceOptions() throws(ConnectorError) -> PluginConformance.Options {
        var options = PluginConformance.Options(timeout: timeout ?? .seconds(2), patience: .milliseconds(60))
        if let config {
            let text =
                config.utf8.first == UInt8(ascii: "{") ? Array(config.utf8) : try ConformanceSubject.text(of: config)
            guard let object = try JSONValue(parsing: text, file: config.excerpt).object else {
                throw ConnectorError(.invalid, "--config is not a JSON object")
            }
            // A plugin may have a field "connectors", but hardly a "version" beside it.
            guard object["version"] == nil || object["connectors"]?.array == nil else {
                throw ConnectorError(
                    .invalid,
                    "--config is a file with connectors; for \"test\", it is the \"config\" of one connector",
                    fix: "pass that alone, such as '{\"writeKey\": \"demo\"}' or a file of it; "
                        + "ids are looked for in the directories of ./connectors.json, so name another plugin by its path"
                )
            }
            options.config = object
        }
        if let answers {
            options.answers = try JSONValue(document: try ConformanceSubject.text(of: answers), file: answers)
        }
        options.seed = seed
        options.runs = runs
        options.isIsolated = location == .runner
        return options
    }

    /// The arguments to pass on to the process for one rule.
    private var childArguments: [String] { rerunArguments + ["--seed", "\(seed)"] }

    /// The options to repeat for checking one rule again.
    private var rerunArguments: [String] {
        var arguments: [String] = []
        if let config { arguments += ["--config", config] }
        if let answers { arguments += ["--answers", answers] }
        if runs != 40 { arguments += ["--runs", "\(runs)"] }
        if location != .process { arguments += ["--in", location.rawValue] }
        if let timeout { arguments += ["--timeout", "\(timeout.nanoseconds / 1_000_000)ms"] }
        if unsealed { arguments.append("--unsealed") }
        return arguments
    }
}
