// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorManifest

/// `connector-host lock`: writes which plugins may be loaded, identified by their bytes.
struct LockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Write which plugins may be loaded, by their bytes.",
        discussion: """
            Writes connectors.lock.json beside connectors.json. Where it stands, a host loads no other bytes. Plugins that are not \
            locked yet are added for this platform; no other entry changes. No plugin code runs, and no secret is read.

            --update ID takes over what a plugin is now: it shows what the plugin newly wants, and asks. Without a terminal it \
            refuses, unless --yes is given.

            Exit status: 0 if every plugin is locked as it is, 1 if one differs, is not locked or cannot be, or the update was \
            refused, 2 if the configuration or the lock is invalid, 64 for wrong usage.

            Examples:
              connector-host lock
              connector-host lock --check
              connector-host lock --update segment
              connector-host lock --update segment --yes --json
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Write nothing; exit with 1 if a plugin is not locked as it is.")
    var check = false

    @Option(
        name: .customLong("update"),
        help: ArgumentHelp("Take over what this plugin is now. May be repeated.", valueName: "id")
    )
    var updates: [String] = []

    @Flag(name: .customLong("yes"), help: "Take it over without asking.")
    var isConfirmed = false

    @OptionGroup var answer: OutputOptions

    func validate() throws {
        if check, !updates.isEmpty { throw ValidationError("--check and --update exclude each other") }
        if isConfirmed, updates.isEmpty { throw ValidationError("--yes needs --update") }
    }

    func run() async throws {
        let options = ConnectorHost.Options()
        try answer.checked { () throws(ConfigurationErrors) in try options.checkPaths() }
        let (read, problems, omitted) = Configuration.examine(file: file.file, environment: options.environment)
        guard let configuration = read, problems.isEmpty else {
            answer.report(problems, omitted: omitted)
            throw ExitStatus.invalidConfiguration
        }
        let examination = LockExamination(configuration, options: options, prefersLocked: updates.isEmpty)
        guard updates.isEmpty else { return try update(examination) }
        guard examination.problems.isEmpty else {
            answer.report(examination.problems)
            throw ExitStatus.failed
        }
        let isEqual = examination.isLocked && examination.plugins.allSatisfy(\.isLocked)
        let isBlocked = examination.plugins.contains { $0.locked != nil && !$0.isLocked }
        let isWritten = !check && !isBlocked && !isEqual
        if isWritten { try write(examination.extended) }
        answer.output.write(LockDocument(examination: examination, isWritten: isWritten, isCheck: check))
        if check ? !isEqual : isBlocked { throw ExitStatus.failed }
    }

    private func update(_ examination: LockExamination) throws {
        let known = Set(examination.plugins.map(\.found.id))
        var problems = examination.problems
        if let unknown = updates.first(where: { !known.contains($0) }), problems.isEmpty {
            problems.append(
                ConnectorError(
                    .unknownPlugin,
                    "no connector names the plugin \"\(unknown.excerpt)\"",
                    fix: suggestion(for: unknown, among: known.sorted())
                )
            )
        }
        guard problems.isEmpty else {
            answer.report(problems)
            throw ExitStatus.failed
        }
        let chosen = examination.plugins.filter { updates.contains($0.found.id) }
        var document = LockDocument(examination: examination, updates: updates)
        guard !chosen.allSatisfy(\.isLocked) else { return answer.output.write(document) }
        if !isConfirmed {
            guard Confirmation.isPossible else {
                // With --json, the error alone is the answer.
                if !answer.isJSON { answer.output.write(document) }
                answer.report([
                    ConnectorError(
                        .denied,
                        "the lock is unchanged: there is no terminal to ask on",
                        fix: "read what the plugin newly wants, then repeat the command with --yes"
                    )
                ])
                throw ExitStatus.failed
            }
            StandardStream.error.write(Output(format: .text, style: .detected(for: .error)).render(document))
            guard Confirmation.ask("Lock this?") else {
                if answer.isJSON { answer.output.write(document) }
                throw ExitStatus.failed
            }
        }
        try write(examination.updated(updates))
        document.isWritten = true
        answer.output.write(document)
    }

    private func write(_ lock: PluginLock) throws {
        do throws(ConnectorError) {
            try TextFile.replace(lock.file, with: lock.text)
        } catch {
            answer.report([error])
            throw ExitStatus.failed
        }
    }
}
