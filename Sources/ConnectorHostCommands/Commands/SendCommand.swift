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
              connector-host send analytics track event=Seen userId=u1 --simulate
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
        var sent: SentDocument?
        do throws(ConnectorError) {
            answer.output.write(try await document(session, &sent))
        } catch {
            // An event timed out because its gate is not open: report the reason for that.
            let cause = error.code == .timedOut ? failure(in: session.host.report) : nil
            let error = cause ?? error
            answer.report([error], of: .call, sent: sent)
            try await session.close()
            throw ExitStatus.failed
        }
        try await session.close()
    }

    /// Sends the event in the arguments, or the events on standard input.
    ///
    /// - Parameter sent: What was sent from standard input when the command failed.
    private func document(
        _ session: HostSession,
        _ sent: inout SentDocument?
    ) async throws(ConnectorError) -> SentDocument {
        let gate = try session.host.gate(path)
        if arguments == ["-"] {
            try await openSimulated(session)
            var document = SentDocument(path: path, operation: operation, sent: 0, isSimulated: simulate)
            defer { sent = document }
            try await sendLines(gate, session.interruption, &document.sent)
            return document
        }
        // Check the event before any gate opens.
        let event = try gate.checked(operation, values(gate))
        try await openSimulated(session)
        let id = try await cancellable(session.interruption) { () async throws(ConnectorError) in
            try await send(event, to: gate)
        }
        return SentDocument(path: path, operation: operation, sent: 1, id: id, isSimulated: simulate)
    }

    /// Opens the connector against its simulators, with `--simulate`.
    ///
    /// - Throws: The error of the connector if it did not open, because its events would never be delivered.
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
    private func send(_ event: GateClient.CheckedEvent, to gate: GateClient) async throws(ConnectorError) -> String {
        let receipt = try await gate.send(event)
        guard simulate else { return receipt.id }
        do throws(ConnectorError) {
            try await receipt.delivered(within: timeout ?? .seconds(30))
            if let failure = receipt.outcomes.lazy.compactMap(\.error).first { throw failure }
        } catch {
            // The outbox is in memory and ends with this process, so no other command could explain the event.
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

    /// Sends the lines of standard input as they arrive. A signal has the same effect as the end of the input.
    ///
    /// - Parameter sent: Counts the events that are stored or delivered.
    /// - Throws: The first error, with the number of its line. No line after one that is not an event is sent. Beside one that
    ///   cannot be stored or delivered, later ones may be: the error names them.
    private func sendLines(
        _ gate: GateClient,
        _ interruption: Interruption,
        _ sent: inout Int
    ) async throws(ConnectorError) {
        var input = InputLines()
        let done = simulate ? "delivered" : "stored"
        let progress = SendingProgress(done: done)
        defer { progress.end() }
        while await interruption.cancelling({ await InputLines.areReady() }), interruption.exitStatus == nil,
            let lines = try input.next()
        {
            for start in stride(from: 0, to: lines.count, by: Self.batchSize) {
                let batch = lines[start...].prefix(Self.batchSize)
                let (events, fault) = events(in: batch, for: gate)
                let refusals = try await cancellable(interruption) { () async throws(ConnectorError) in
                    await send(events, to: gate)
                }
                sent += events.count - refusals.count
                progress.show(sent)
                guard let (number, failure) = refusals.first ?? fault else { continue }
                var error = failure
                var later = RangeSet<Int>()
                for (line, _) in events where line > number && !refusals.contains(where: { $0.number == line }) {
                    later.insert(contentsOf: line..<line + 1)
                }
                error.position?.line = number
                error.message = "line \(number) of standard input: \(error.message)"
                if !later.isEmpty {
                    let lines = later.ranges.map { lines in
                        lines.count == 1 ? "\(lines.lowerBound)" : "\(lines.lowerBound)-\(lines.upperBound - 1)"
                    }
                    error.message += " (\(done) all the same: lines \(lines.joined(separator: ", ")))"
                }
                throw error
            }
        }
    }

    /// The events of lines up to the first one that is not an event, and the error of that one. Sends nothing.
    private func events(
        in lines: ArraySlice<InputLines.Line>,
        for gate: GateClient
    ) -> (events: [(number: Int, event: GateClient.CheckedEvent)], fault: (number: Int, error: ConnectorError)?) {
        var events: [(number: Int, event: GateClient.CheckedEvent)] = []
        for line in lines {
            do throws(ConnectorError) {
                let value = try JSONValue(parsing: line.text)
                guard let object = value.object else {
                    throw ConnectorError(.invalid, "an event must be a JSON object, not \(value.kind)")
                }
                events.append((line.number, try gate.checked(operation, object)))
            } catch {
                return (events, (line.number, error))
            }
        }
        return (events, nil)
    }

    /// Sends events concurrently.
    ///
    /// - Returns: The errors of those that were not stored or delivered, in the order of their lines.
    private func send(
        _ events: [(number: Int, event: GateClient.CheckedEvent)],
        to gate: GateClient
    ) async -> [(number: Int, error: ConnectorError)] {
        await withTaskGroup(of: (number: Int, error: ConnectorError)?.self) { group in
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
            return refusals.sorted { $0.number < $1.number }
        }
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

    func show(_ count: Int) {
        if isShown { StandardStream.error.write("\r\(count) events \(done)") }
    }

    func end() {
        if isShown { StandardStream.error.write("\r\u{1B}[K") }
    }
}
