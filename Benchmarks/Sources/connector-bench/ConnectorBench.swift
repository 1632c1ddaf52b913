// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Logging

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The program: `run` measures everything; the other commands take one sample, each in a process of its own.
@main
enum ConnectorBench {
    /// Does what the arguments say, or prints why it cannot on standard error, with status 64 for wrong usage.
    static func main() async {
        // The host writes no line for each gate either, since C does not.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        do {
            try await measure(Array(CommandLine.arguments.dropFirst()))
        } catch {
            let text = Array("\(error)\n".utf8)
            _ = unsafe write(STDERR_FILENO, text, text.count)
            exit((error as? Failure)?.status ?? 1)
        }
    }

    private static func measure(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("run", 4): try await run(files: arguments[1], programs: arguments[2], results: arguments[3])
        case ("open", 2): try await Opening.measure(file: arguments[1])
        case ("steps", 2): try Steps.measure(folder: arguments[1])
        case ("part", 4):
            let suite = Suite(files: arguments[1], programs: arguments[2], rounds: 20)
            guard let part = suite.parts.first(where: { $0.name == arguments[3] }) else {
                let names = suite.parts.map(\.name).joined(separator: ", ")
                throw Failure("there is no part \(arguments[3]); there are \(names)", status: 64)
            }
            _ = try await suite.run([part.measure])
        case ("path", 4):
            try await CallPath.measure(files: arguments[1], path: arguments[2], profile: arguments[3])
        case ("allocations", 2): try await Allocations.measure(files: arguments[1])
        default:
            throw Failure(
                "usage: connector-bench run FILES PROGRAMS RESULTS | part FILES PROGRAMS NAME | open FILE | steps FOLDER"
                    + " | path FILES PATH PROFILE",
                status: 64
            )
        }
    }

    private static func run(files: String, programs: String, results: String) async throws {
        let measurements = try await Suite(files: files, programs: programs, rounds: 20).run()
        try ResultsFile.write(Suite.document(measurements), to: results)
        let missed = measurements.filter { $0.isMet == false }.map(\.id)
        print(missed.isEmpty ? "Every goal was reached." : "Missed: \(missed.joined(separator: ", "))")
    }
}
