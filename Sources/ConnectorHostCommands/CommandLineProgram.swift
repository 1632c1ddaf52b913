// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The program, for which the executable is only the entry point.
public enum CommandLineProgram {
    /// Runs the command that the process's arguments name, and exits with its status, even if a plugin still blocks a
    /// thread.
    public static func main() async {
        // First, because everything that follows may open files.
        StandardStream.fillGaps()
        guard StackLimit.isSufficient else { refuseStack() }
        // A write to a reader that has gone fails instead, and the command still closes its gates.
        signal(SIGPIPE, SIG_IGN)
        // A write beyond the limit of the size of files fails instead, and the error says so.
        signal(SIGXFSZ, SIG_IGN)
        // Whoever started this program may ignore it: the system then forgets how children have ended.
        signal(SIGCHLD, SIG_DFL)
        // Whatever the umask, this user may use what the program makes.
        umask(umask(0o077) & 0o077)
        CrashNote.install()
        ExitGuard.begin()
        // Without /proc not even the program's name is known, and no argument asks for help.
        guard !ProcessArguments.all.isEmpty else {
            OutputOptions(isJSON: false).report([
                ConnectorError(
                    .unavailable,
                    "/proc is not mounted, and the host needs it",
                    fix: "run: mount -t proc proc /proc"
                )
            ])
            end(ExitStatus.failed)
        }
        let arguments = Array(ProcessArguments.all.dropFirst())
        widenHelp()
        if damage != nil { refuse(ExitCode.validationFailure, arguments) }
        if Self.commandsThatRun.contains(arguments.first ?? "") { Interruption.note() }
        var command: any ParsableCommand
        do {
            command = try ConnectorHostCommand.parseAsRoot(arguments)
        } catch {
            refuse(error, arguments)
        }
        // Commands that are not asynchronous run no plugin and print only help on standard output.
        guard var running = command as? any AsyncParsableCommand, !(command is ConnectorHostCommand) else {
            if command is ConnectorHostCommand { refuse(CleanExit.helpRequest(command), arguments) }
            do {
                try command.run()
                end(.success)
            } catch {
                refuse(error, arguments)
            }
        }
        StandardStream.keepOutput()
        // Dispatch ends the process if it lacks a descriptor.
        guard DescriptorLimit.hasRoom(for: Self.fewestDescriptors) else {
            output(of: arguments).report([
                ConnectorError(
                    .unavailable,
                    "a command needs more descriptors than this process may have",
                    fix: SystemError(EMFILE).limitRemedy
                )
            ])
            end(ExitStatus.failed)
        }
        // Without a thread, nothing would ever take up what the command waits for.
        guard HostThread.areAvailable(Self.fewestThreads) else {
            output(of: arguments).report([
                ConnectorError(
                    .unavailable,
                    "the system cannot create the threads of a command",
                    fix: HostThread.remedy,
                    cause: HostThread.refusal?.description
                )
            ])
            end(ExitStatus.failed)
        }
        do {
            try await running.run()
            end(.success)
        } catch let status as ExitCode {
            end(status)
        } catch {
            let unexpected = ConnectorError(.failed, "the command failed", cause: String(describing: error))
            output(of: arguments).report([error as? ConnectorError ?? unexpected])
            end(ExitStatus.failed)
        }
    }

    /// Exits the process, whose stack is too small for a better error.
    private static func refuseStack() -> Never {
        let text = Array(
            "error: connector-host needs a stack of \(StackLimit.least >> 10) KiB: raise its limit (ulimit -s, LimitSTACK)\n"
                .utf8
        )
        _ = unsafe write(STDERR_FILENO, text, text.count)
        exit(ExitStatus.failed.rawValue)
    }

    /// The commands that end in an orderly way when a signal comes, from their first moment.
    private static let commandsThatRun: Set<String> = ["run", "console"]
    /// The fewest descriptors that must be left for a command: those of Dispatch, of its files and of one connection.
    private static let fewestDescriptors = 16
    /// The fewest threads that a command must be able to have: those of Swift's tasks, of Dispatch, of timers and of one gate.
    private static let fewestThreads = 8

    /// Has help laid out for at least 40 columns: the parser needs more than the 26 in which it puts the names of options.
    private static func widenHelp() {
        let fewest = 40
        var size = winsize()
        let named = unsafe getenv("COLUMNS").flatMap { unsafe Int(String(cString: $0)) }
        let columns =
            if let named { named } else if unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
                Int(size.ws_col)
            } else { fewest }
        if columns < fewest { unsafe setenv("COLUMNS", "\(fewest)", 1) }
    }

    /// Exits the process. If the answer could not be written completely, the exit status never means success.
    private static func end(_ status: ExitCode) -> Never {
        WorkMark.end()
        // A reload that has not ended may still run a program that prints a secret.
        ChildCommand.killAll()
        ExitGuard.end()
        let failure = StandardStream.outputFailure
        let status = failure != nil && status == .success ? ExitStatus.failed : status
        // A reader that has gone, such as head, wants no more.
        if let failure, failure.number != EPIPE {
            let reason = "the answer cannot be written to standard output: \(failure.text)"
            StandardStream.error.writeLine("error: \(reason)")
        }
        StandardStream.flushErrors()
        ExitWatch.start(status: status.rawValue)
        exit(status.rawValue)
    }

    /// The message about an argument that is not UTF-8; nil if there is none. Whatever took its place would be another value than the one
    /// that was given.
    private static var damage: String? {
        ProcessArguments.damaged.map { argument in
            """
            argument \(argument.number) is not UTF-8: "\(argument.shown.excerpt)"; \
            give bytes as {"base64": "…"}, and a file a name in UTF-8
            """
        }
    }

    /// Prints help or an error about the arguments, which `--json` makes an error document, and exits.
    private static func refuse(_ error: any Error, _ arguments: [String]) -> Never {
        let (command, unknown) = named(arguments)
        let mistake = damage ?? unknown
        // The parser answers a request for help despite such a word.
        let status = mistake == nil ? ConnectorHostCommand.exitCode(for: error) : .validationFailure
        let text = ConnectorHostCommand.fullMessage(for: error)
        guard status == .validationFailure else {
            if !text.isEmpty { (status == .success ? StandardStream.output : .error).writeLine(text) }
            end(status)
        }
        guard !wantsJSON(arguments) else {
            let message = mistake ?? ConnectorHostCommand.message(for: error)
            output(of: arguments).report([
                ConnectorError(.invalid, message.excerpt(of: 600), fix: "see \(command) --help")
            ])
            end(status)
        }
        let style = TextStyle.detected(for: .error)
        let usage =
            (unknown == nil ? [] : ["Usage: \(command) <subcommand>"])
            + ["  See '\(command) --help' for more information."]
        let lines =
            mistake.map { ["Error: \($0)"] + usage }
            ?? text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        StandardStream.error.writeLine(lines.map(style.shown).joined(separator: "\n"))
        end(status)
    }

    /// The command that the arguments name and, if a word stands where a command is expected but is none, a message about it.
    ///
    /// The parser itself complains about the first option after such a word instead.
    private static func named(_ arguments: [String]) -> (command: String, mistake: String?) {
        var path = "connector-host"
        var command: any ParsableCommand.Type = ConnectorHostCommand.self
        for word in arguments.drop(while: { $0 == "help" }) {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-") else { break }
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
                let known = subcommands.compactMap { $0.configuration.commandName }
                let hint = suggestion(for: word, among: known).map { "; \($0)" } ?? ""
                return (path, "there is no command \"\(word.excerpt)\"\(hint)")
            }
            path += " \(word)"
            command = next
        }
        return (path, nil)
    }

    /// The output options in these arguments.
    private static func output(of arguments: [String]) -> OutputOptions {
        OutputOptions(isJSON: wantsJSON(arguments), isLinewise: named(arguments).command == "connector-host watch")
    }

    private static func wantsJSON(_ arguments: [String]) -> Bool {
        let words = arguments.prefix { $0 != "--" }
        return words.contains("--json") || words.contains("--format=json")
            || zip(words, words.dropFirst()).contains { $0 == ("--format", "json") }
    }
}
