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

/// The program; the executable is only its entry point.
public enum CommandLineProgram {
    /// Runs the command named by the process's arguments, and exits with its status, even if a plugin still blocks a
    /// thread.
    public static func main() async {
        CrashNote.install()
        ExitGuard.begin()
        let arguments = Array(CommandLine.arguments.dropFirst())
        var command: any ParsableCommand
        do {
            command = try ConnectorHostCommand.parseAsRoot(arguments)
        } catch {
            refuse(error, arguments)
        }
        // A command that runs no plugin only prints help on standard output.
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

    /// Exits the process; an answer that could not be written completely is never a success.
    private static func end(_ status: ExitCode) -> Never {
        WorkMark.end()
        ExitGuard.end()
        ExitWatch.start(status: status.rawValue)
        if let failure = StandardStream.outputFailure {
            StandardStream.error.writeLine("error: the answer cannot be written to standard output: \(failure)")
            exit(status == .success ? ExitStatus.failed.rawValue : status.rawValue)
        }
        exit(status.rawValue)
    }

    /// Prints help or an error about the arguments, with `--json` as an error document, and exits.
    private static func refuse(_ error: any Error, _ arguments: [String]) -> Never {
        let status = ConnectorHostCommand.exitCode(for: error)
        guard status == .validationFailure, wantsJSON(arguments) else {
            ExitGuard.end()
            ConnectorHostCommand.exit(withError: error)
        }
        let message = ConnectorHostCommand.message(for: error)
        let command = arguments.first { !$0.hasPrefix("-") }.map { " \($0.excerpt)" } ?? ""
        output(of: arguments).report([
            ConnectorError(.invalid, message.excerpt(of: 600), fix: "see connector-host\(command) --help")
        ])
        end(status)
    }

    /// The output options in these arguments.
    private static func output(of arguments: [String]) -> OutputOptions {
        OutputOptions(isJSON: wantsJSON(arguments))
    }

    private static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}
