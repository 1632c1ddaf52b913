// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorManifest

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// `connector-host send`: puts events into the outbox.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Put events into the outbox, from where a running host delivers them.",
        discussion: """
            Returns once the events are on the disk. Whoever runs on the same file delivers them: connector-host run, or an
            application. Arguments are those of call. With - in place of them, every line of standard input is one event.

            Exit status: 0 if every event is stored; 1 if one is not; 2 if the configuration is invalid; 64 for wrong usage.

            Examples:
              connector-host send analytics track event='Order Completed' userId=u1
              connector-host send analytics track - < events.jsonl
            """
    )

    @Argument(help: "The connector, such as analytics or analytics/segment.")
    var path: String

    @Argument(help: "The operation, such as track.")
    var operation: String

    @Argument(
        help: ArgumentHelp("The arguments, in order or as NAME=VALUE; - for standard input.", valueName: "argument")
    )
    var arguments: [String] = []

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    /// How many events of standard input are stored together.
    private static let together = 256

    func run() async throws {
        let session = try await HostSession.start(file, simulating: false, answer: answer, logger: log.logger)
        do throws(ConnectorError) {
            if arguments == ["-"] {
                let sent = try await sendLines(session.host.gate(path))
                answer.output.write(SentDocument(path: path, operation: operation, sent: sent, id: nil))
            } else {
                let gate = try session.host.gate(path)
                let receipt = try await gate.send(operation, try values(gate))
                answer.output.write(SentDocument(path: path, operation: operation, sent: 1, id: receipt.id))
            }
        } catch {
            answer.report([error], of: .call)
            try await session.close()
            throw ExitStatus.failed
        }
        try await session.close()
    }

    private func values(_ gate: GateClient) throws(ConnectorError) -> JSONObject {
        let found = try gate.definition(of: operation)
        return try ArgumentReader(found.operation, of: found.capability.id).arguments(arguments)
    }

    /// Sends every line of standard input, many at a time.
    ///
    /// - Returns: How many were stored.
    /// - Throws: The first error, with the number of its line; the lines before it are stored.
    private func sendLines(_ gate: GateClient) async throws(ConnectorError) -> Int {
        var (number, sent) = (0, 0)
        var lines: [(number: Int, text: String)] = []
        var progress = SendingProgress()
        func flush() async throws(ConnectorError) {
            try await send(lines, to: gate)
            sent += lines.count
            lines = []
            progress.show(sent)
        }
        while let line = readLine() {
            number += 1
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            lines.append((number, line))
            if lines.count == Self.together { try await flush() }
        }
        try await flush()
        progress.end()
        return sent
    }

    private func send(_ lines: [(number: Int, text: String)], to gate: GateClient) async throws(ConnectorError) {
        let failure = await withTaskGroup(of: (number: Int, error: ConnectorError)?.self) { group in
            for line in lines {
                group.addTask { [operation] in
                    do throws(ConnectorError) {
                        let value = try JSONValue(parsing: line.text)
                        guard let object = value.object else {
                            throw ConnectorError(.invalid, "an event must be a JSON object, not \(value.kind)")
                        }
                        try await gate.send(operation, object)
                        return nil
                    } catch {
                        return (line.number, error)
                    }
                }
            }
            var failures: [(number: Int, error: ConnectorError)] = []
            for await failure in group { if let failure { failures.append(failure) } }
            return failures.min { $0.number < $1.number }
        }
        guard let failure else { return }
        var error = failure.error
        error.message = "line \(failure.number) of standard input: \(error.message)"
        throw error
    }
}

/// A line on the terminal that says how many events were sent.
private struct SendingProgress {
    private let isShown = StandardStream.error.isTerminal

    mutating func show(_ count: Int) {
        if isShown { StandardStream.error.write("\r\(count) events stored") }
    }

    func end() {
        if isShown { StandardStream.error.write("\r\u{1B}[K") }
    }
}
