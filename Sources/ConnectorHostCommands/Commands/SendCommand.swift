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
            The arguments are those of call. With - instead, every line of standard input is one event, stored as it comes, and \
            delivered in the order of the lines.

            With --simulate the gates open against simulators in this process, and the command returns once these have received \
            the events. Nothing is written to disk.

            Exit status: 0 if every event was stored, or delivered with --simulate; 1 if one was not, such as one that every \
            connector's full outbox dropped; 2 if the configuration is invalid; 64 for wrong usage.

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
        help: ArgumentHelp(
            "The timeout for the outbox to take an event, full or locked as it may be, or for simulators to accept it. (default: 30s)",
            valueName: "duration"
        ),
        transform: Duration.argument
    )
    var timeout: Duration?

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    /// The number of events from standard input that are stored in one step.
    private static let batchSize = 256

    /// What became of some lines of standard input.
    private struct Outcome {
        /// How many events were stored or delivered.
        var count = 0
        /// The first that was not, by the number of its line.
        var failure: (number: Int, error: ConnectorError)?
        /// The lines after that one whose events were.
        var later = RangeSet<Int>()
        /// How many of the stored events were dropped by a full outbox, by its connector.
        var dropped: [String: Int] = [:]
    }

    func validate() throws {
        try answers.validate(isSimulated: simulate)
    }

    func run() async throws {
        let session = try await HostSession.start(
            file,
            simulating: answers.request(isSimulated: simulate),
            opens: simulate,
            delivers: simulate,
            answer: answer,
            // The error that the host logs is the one that the command reports.
            logger: log.logger(omitting: ["the outbox cannot be used"])
        )
        var sent: SentDocument?
        do throws(ConnectorError) {
            let document = try await document(session, &sent)
            answer.output.write(document)
            document.warn()
        } catch {
            // An event timed out because its gate is not open: report the reason for that.
            let cause = error.code == .timedOut ? failure(in: session.host.report) : nil
            let error = cause ?? error
            answer.report(callFailure: error, in: session.host.report, sent: sent)
            sent?.warn()
            // Closing would wait for the lock that the event did not get, and no gate is open.
            if simulate || error.code != .timedOut { try await session.close() }
            throw session.interruption.exitStatus ?? ExitStatus.failed
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
            try await sendLines(gate, session.interruption, &document)
            return document
        }
        // Check the event before any gate opens.
        let event = try gate.checked(operation, values(gate))
        try await openSimulated(session)
        let receipt = try await cancellable(session.interruption) { () async throws(ConnectorError) -> Receipt in
            let receipt = try await send(event, to: gate)
            if simulate { try await awaitDelivery(of: receipt) }
            return receipt
        }
        var document = SentDocument(path: path, operation: operation, sent: 1, id: receipt.id, isSimulated: simulate)
        document.dropped = Self.dropped([receipt])
        return document
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

    /// Runs a step. With simulators, a signal cancels it; an event that is being stored is not given up.
    private func cancellable<Value: Sendable>(
        _ interruption: Interruption,
        _ step: @escaping @Sendable () async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        simulate ? try await interruption.cancelling(step) : try await step()
    }

    /// How long one step may take, whatever the outbox waits for.
    private var options: CallOptions {
        var options = CallOptions(timeout: timeout ?? .seconds(30))
        options.keepsTimeout = true
        return options
    }

    /// Sends one event.
    ///
    /// - Throws: The error of the outboxes if they were all full, and dropped it.
    private func send(_ event: GateClient.CheckedEvent, to gate: GateClient) async throws(ConnectorError) -> Receipt {
        let receipt = try await gate.send(event, options: options)
        if let loss = receipt.loss { throw loss }
        return receipt
    }

    /// How many of some events were dropped by a full outbox, by its connector.
    private static func dropped(_ receipts: [Receipt]) -> [String: Int] {
        receipts.flatMap(\.dropped).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    private func awaitDelivery(of receipt: Receipt) async throws(ConnectorError) {
        do throws(ConnectorError) {
            try await receipt.delivered(within: timeout ?? .seconds(30))
            if let failure = receipt.outcomes.lazy.compactMap(\.error).first { throw failure }
        } catch {
            // The outbox is in memory and ends with this process, so no other command could explain the event.
            var error = error
            error.fix = nil
            throw error
        }
    }

    private func values(_ gate: GateClient) throws(ConnectorError) -> JSONObject {
        let definition = try gate.definition(of: operation)
        let reader = ArgumentReader(definition.operation, of: definition.capability.id)
        let values = try reader.arguments(arguments)
        // Without any, an event would be an empty object.
        if values.isEmpty, let missing = reader.inputs.first(where: { !$0.isOptional }) {
            throw ConnectorError(
                .invalid,
                "\(operation) needs \"\(missing.name)\"",
                fix: "\(operation)\(definition.operation.signature)",
                connector: path
            )
        }
        return values
    }

    /// Sends the lines of standard input as they arrive. A signal has the same effect as the end of the input.
    ///
    /// - Parameter document: Counts the events that are stored or delivered.
    /// - Throws: The first error, with the number of its line. No line after one that is not an event, or cannot be stored, is sent.
    ///   Beside one that cannot be delivered, later ones may be: the error names them.
    private func sendLines(
        _ gate: GateClient,
        _ interruption: Interruption,
        _ document: inout SentDocument
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
                let outcome = try await cancellable(interruption) { () async throws(ConnectorError) in
                    await send(events, to: gate)
                }
                document.sent += outcome.count
                document.dropped.merge(outcome.dropped) { $0 + $1 }
                progress.show(document.sent)
                guard let (number, failure) = outcome.failure ?? fault else { continue }
                var error = failure
                // A position in a file is that of another fault, such as one of the plugin's manifest.
                if error.position?.file.isEmpty == true { error.position?.line = number }
                error.message = "line \(number) of standard input: \(error.message)"
                if !outcome.later.isEmpty {
                    let lines = outcome.later.ranges.map { lines in
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
                events.append((line.number, try gate.checked(operation, event: object)))
            } catch {
                return (events, (line.number, error))
            }
        }
        return (events, nil)
    }

    /// Stores events in their order and, with simulators, awaits their deliveries.
    private func send(
        _ events: [(number: Int, event: GateClient.CheckedEvent)],
        to gate: GateClient
    ) async -> Outcome {
        var receipts: [Receipt] = []
        var failure: (number: Int, error: ConnectorError)?
        do throws(ConnectorError) {
            receipts = try await gate.store(events.map(\.event), options: options) ?? []
        } catch {
            // One of them may be the reason of another failure, and those before it are stored all the same.
            if error.code == .timedOut { failure = events.first.map { ($0.number, error) } }
        }
        for (number, event) in events.dropFirst(receipts.count) where failure == nil {
            do throws(ConnectorError) {
                receipts.append(try await send(event, to: gate))
            } catch {
                failure = (number, error)
                break
            }
        }
        guard simulate else {
            return Outcome(count: receipts.count, failure: failure, dropped: Self.dropped(receipts))
        }
        var outcome = await deliveries(of: receipts, events.map(\.number))
        outcome.failure = outcome.failure ?? failure
        return outcome
    }

    /// Awaits the deliveries of the events of some lines.
    private func deliveries(of receipts: [Receipt], _ numbers: [Int]) async -> Outcome {
        await withTaskGroup(of: (index: Int, error: ConnectorError?).self) { group in
            for (index, receipt) in receipts.enumerated() {
                group.addTask {
                    do throws(ConnectorError) {
                        try await awaitDelivery(of: receipt)
                        return (index, nil)
                    } catch {
                        return (index, error)
                    }
                }
            }
            var errors = [ConnectorError?](repeating: nil, count: receipts.count)
            for await (index, error) in group { errors[index] = error }
            var outcome = Outcome(count: errors.count { $0 == nil })
            for (number, error) in zip(numbers, errors) {
                if let error {
                    outcome.failure = outcome.failure ?? (number, error)
                } else if outcome.failure != nil {
                    outcome.later.insert(contentsOf: number..<number + 1)
                }
            }
            return outcome
        }
    }
}

/// A progress line on the terminal with the number of events sent.
private struct SendingProgress {
    /// The verb: `stored` or `delivered`.
    let done: String
    private let isShown = StandardStream.error.isTerminal

    func show(_ count: Int) {
        if isShown { StandardStream.error.write("\r\(count) events \(done)") }
    }

    func end() {
        if isShown { StandardStream.error.write("\r\u{1B}[K") }
    }
}
