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
            Returns once the events are on disk. A host on the same file delivers them: connector-host run, or an application. \
            The arguments are those of call. With - instead, every line of standard input is one event, stored as it comes.

            With --simulate the gates open against simulators in this process, and the command returns once these have received \
            the events. Nothing is written to disk.

            Exit status: 0 if every event was stored, or delivered with --simulate; 1 if one was not; 2 if the configuration is \
            invalid; 64 for wrong usage.

            Examples:
              connector-host send analytics track event='Order Completed' userId=u1
              connector-host send analytics track event='Order Completed' userId=u1 --simulate
              connector-host send analytics track - < events.jsonl
            """
    )

    @Argument(help: "The connector, such as analytics or analytics/segment.", completion: ConnectorCompletion.paths)
    var path: String

    @Argument(help: "The operation, such as track.", completion: ConnectorCompletion.operations)
    var operation: String

    @Argument(
        help: ArgumentHelp("The arguments, in order or as NAME=VALUE; - for standard input.", valueName: "argument")
    )
    var arguments: [String] = []

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Deliver to simulators in this process; no vendor is contacted, and nothing is stored.")
    var simulate = false

    @OptionGroup var answers: AnswersOption

    @Option(
        help: ArgumentHelp("The timeout for simulators to accept an event. (default: 30s)", valueName: "duration"),
        transform: Duration.argument
    )
    var timeout: Duration?

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    /// The number of events from standard input to send concurrently.
    private static let batchSize = 256

    func validate() throws {
        try answers.validate(isSimulated: simulate)
        guard simulate || timeout == nil else {
            throw ValidationError("--timeout requires --simulate: storing an event does not wait.")
        }
    }

    func run() async throws {
        let session = try await HostSession.start(
            file,
            simulating: answers.request(isSimulated: simulate),
            delivers: simulate,
            answer: answer,
            logger: log.logger
        )
        do throws(ConnectorError) {
            answer.output.write(try await document(session))
        } catch {
            // An event that timed out did so because its gate is not open: report the reason for that.
            let cause = error.code == .timedOut ? failure(in: session.host.report) : nil
            let error = cause ?? error
            answer.report([error], of: .call)
            try await session.close()
            throw ExitStatus.failed
        }
        try await session.close()
    }

    /// Sends the event in the arguments, or the events on standard input.
    private func document(_ session: HostSession) async throws(ConnectorError) -> SentDocument {
        let gate = try session.host.gate(path)
        if arguments == ["-"] {
            try await openSimulated(session)
            let sent = try await sendLines(gate, session.interruption)
            return SentDocument(path: path, operation: operation, sent: sent, id: nil, isSimulated: simulate)
        }
        // Validates the arguments before any gate opens.
        let values = try values(gate)
        try await openSimulated(session)
        let id = try await cancellable(session.interruption) { () async throws(ConnectorError) in
            try await send(values, to: gate)
        }
        return SentDocument(path: path, operation: operation, sent: 1, id: id, isSimulated: simulate)
    }

    /// Opens the connector against its simulators, with `--simulate`.
    ///
    /// - Throws: The error of a connector that did not open, since its events would never be delivered.
    private func openSimulated(_ session: HostSession) async throws(ConnectorError) {
        guard simulate else { return }
        let report = try await session.open(path)
        guard report[path]?.isReady == false else { return }
        throw failure(in: report) ?? ConnectorError(.notOpen, "\(path) did not open", connector: path)
    }

    /// The error of the connector, or of the first one below it that failed; nil for none.
    private func failure(in report: Report) -> ConnectorError? {
        report.gates.lazy.filter { $0.path == path || $0.path.hasPrefix("\(path)/") }.compactMap(\.error).first
    }

    /// Runs a step. With simulators, a signal cancels it; storing an event is too fast to need cancelling.
    private func cancellable<Value: Sendable>(
        _ interruption: Interruption,
        _ step: @escaping @Sendable () async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        simulate ? try await interruption.cancelling(step) : try await step()
    }

    /// Sends one event and, with simulators, awaits its delivery.
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
        let definition = try gate.definition(of: operation)
        return try ArgumentReader(definition.operation, of: definition.capability.id).arguments(arguments)
    }

    /// Sends the lines of standard input as they come. A signal ends that like the end of the input.
    ///
    /// - Returns: The number of events stored or delivered.
    /// - Throws: The first error, with the number of its line; the lines before it are stored.
    private func sendLines(_ gate: GateClient, _ interruption: Interruption) async throws(ConnectorError) -> Int {
        var sent = 0
        var input = InputLines()
        var progress = SendingProgress(done: simulate ? "delivered" : "stored")
        while await interruption.cancelling({ await InputLines.areReady() }), interruption.exitStatus == nil,
            let lines = try input.next()
        {
            for start in stride(from: 0, to: lines.count, by: Self.batchSize) {
                let batch = Array(lines[start...].prefix(Self.batchSize))
                try await cancellable(interruption) { () async throws(ConnectorError) in
                    try await send(batch, to: gate)
                }
                sent += batch.count
                progress.show(sent)
            }
        }
        progress.end()
        return sent
    }

    /// Sends lines together, up to one that is no event.
    private func send(_ lines: [InputLines.Line], to gate: GateClient) async throws(ConnectorError) {
        var events: [(number: Int, event: JSONObject)] = []
        var fault: (number: Int, error: ConnectorError)?
        for line in lines {
            do throws(ConnectorError) {
                let value = try JSONValue(parsing: line.text)
                guard let object = value.object else {
                    throw ConnectorError(.invalid, "an event must be a JSON object, not \(value.kind)")
                }
                events.append((line.number, object))
            } catch {
                fault = (line.number, error)
                break
            }
        }
        let refusal = await withTaskGroup(of: (number: Int, error: ConnectorError)?.self) { group in
            for (number, event) in events {
                group.addTask {
                    do throws(ConnectorError) {
                        _ = try await send(event, to: gate)
                        return nil
                    } catch {
                        return (number, error)
                    }
                }
            }
            var refusals: [(number: Int, error: ConnectorError)] = []
            for await refusal in group { if let refusal { refusals.append(refusal) } }
            return refusals.min { $0.number < $1.number }
        }
        let failure = refusal ?? fault
        guard let failure else { return }
        var error = failure.error
        error.message = "line \(failure.number) of standard input: \(error.message)"
        throw error
    }
}

/// A progress line on the terminal with the number of events sent.
private struct SendingProgress {
    /// The verb: `stored` or `delivered`.
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
