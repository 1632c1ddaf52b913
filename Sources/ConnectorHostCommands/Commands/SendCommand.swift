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
        abstract: "Put events into the outbox, from which a running host delivers them.",
        discussion: """
            Returns once the events are on the disk. A host on the same file delivers them: connector-host run, or an
            application. Arguments are those of call. With - in place of them, every line of standard input is one event.

            With --simulate the gates open against simulators in this process, and the command returns once those have the
            events. Nothing is written to the disk.

            Exit status: 0 if every event is stored, or delivered with --simulate; 1 if one is not; 2 if the configuration is
            invalid; 64 for wrong usage.

            Examples:
              connector-host send analytics track event='Order Completed' userId=u1
              connector-host send analytics track event='Order Completed' userId=u1 --simulate
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

    @Flag(help: "Deliver to simulators in this process; no vendor is contacted, and nothing is stored.")
    var simulate = false

    @Option(
        help: ArgumentHelp("The longest wait for simulators to take an event. (default: 30s)", valueName: "duration"),
        transform: Duration.argument
    )
    var timeout: Duration?

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    /// How many events of standard input are stored at once.
    private static let together = 256

    func validate() throws {
        guard simulate || timeout == nil else {
            throw ValidationError("--timeout is for --simulate: events are stored at once.")
        }
    }

    func run() async throws {
        let session = try await HostSession.start(
            file,
            simulating: simulate,
            delivers: simulate,
            answer: answer,
            logger: log.logger
        )
        do throws(ConnectorError) {
            answer.output.write(try await document(session))
        } catch {
            // An event that waited in vain did so because its gate is not open.
            let cause = error.code == .timedOut ? failure(in: session.host.report) : nil
            let error = cause ?? error
            answer.report([error], of: .call)
            try await session.close()
            throw ExitStatus.failed
        }
        try await session.close()
    }

    /// Sends the event of the arguments, or those of standard input.
    private func document(_ session: HostSession) async throws(ConnectorError) -> SentDocument {
        let gate = try session.host.gate(path)
        if arguments == ["-"] {
            try await openSimulated(session)
            let sent = try await sendLines(gate, session.interruption)
            return SentDocument(path: path, operation: operation, sent: sent, id: nil, isSimulated: simulate)
        }
        // Wrong arguments are reported before any gate opens.
        let values = try values(gate)
        try await openSimulated(session)
        let id = try await cancellable(session.interruption) { () async throws(ConnectorError) in
            try await send(values, to: gate)
        }
        return SentDocument(path: path, operation: operation, sent: 1, id: id, isSimulated: simulate)
    }

    /// Opens the connector against its simulators, with `--simulate`.
    ///
    /// - Throws: Why the connector did not open; its events would never be delivered.
    private func openSimulated(_ session: HostSession) async throws(ConnectorError) {
        guard simulate else { return }
        let report = try await session.open(path)
        guard report[path]?.isReady == false else { return }
        throw failure(in: report) ?? ConnectorError(.notOpen, "\(path) did not open", connector: path)
    }

    /// Why the connector, or the first one below it that failed, is not open.
    private func failure(in report: Report) -> ConnectorError? {
        report.gates.lazy.filter { $0.path == path || $0.path.hasPrefix("\(path)/") }.compactMap(\.error).first
    }

    /// Runs a step. With simulators a signal cancels it; storing an event is too quick to cancel.
    private func cancellable<Value: Sendable>(
        _ interruption: Interruption,
        _ step: @escaping @Sendable () async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        simulate ? try await interruption.cancelling(step) : try await step()
    }

    /// Sends one event, and with simulators awaits its delivery.
    ///
    /// - Returns: The event's id.
    private func send(_ values: JSONObject, to gate: GateClient) async throws(ConnectorError) -> String {
        let receipt = try await gate.send(operation, values)
        guard simulate else { return receipt.id }
        do throws(ConnectorError) {
            try await receipt.delivered(within: timeout ?? .seconds(30))
            if let failure = receipt.outcomes.lazy.compactMap(\.error).first { throw failure }
        } catch {
            // The outbox is in memory and ends with this process: no other command could explain the event.
            var error = error
            error.fix = nil
            throw error
        }
        return receipt.id
    }

    private func values(_ gate: GateClient) throws(ConnectorError) -> JSONObject {
        let found = try gate.definition(of: operation)
        return try ArgumentReader(found.operation, of: found.capability.id).arguments(arguments)
    }

    /// Sends every line of standard input, many at a time.
    ///
    /// - Returns: How many were stored or delivered.
    /// - Throws: The first error, with the number of its line; the lines before it are stored.
    private func sendLines(_ gate: GateClient, _ interruption: Interruption) async throws(ConnectorError) -> Int {
        var (number, sent) = (0, 0)
        var lines: [(number: Int, text: String)] = []
        var progress = SendingProgress(done: simulate ? "delivered" : "stored")
        func flush() async throws(ConnectorError) {
            let batch = lines
            try await cancellable(interruption) { () async throws(ConnectorError) in try await send(batch, to: gate) }
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
                group.addTask {
                    do throws(ConnectorError) {
                        let value = try JSONValue(parsing: line.text)
                        guard let object = value.object else {
                            throw ConnectorError(.invalid, "an event must be a JSON object, not \(value.kind)")
                        }
                        _ = try await send(object, to: gate)
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
    /// What happened to them: `stored`, or `delivered`.
    let done: String
    private let isShown = StandardStream.error.isTerminal

    init(done: String) {
        self.done = done
    }

    mutating func show(_ count: Int) {
        if isShown { StandardStream.error.write("\r\(count) events \(done)") }
    }

    func end() {
        if isShown { StandardStream.error.write("\r\u{1B}[K") }
    }
}
