// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest

/// `connector-host call`: opens the gates that it needs, calls one operation, and shows the answer.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call an operation of a connector, and show its answer.",
        discussion: """
            Each argument is the value of the next parameter, or NAME=VALUE. Values are JSON, except that strings are taken \
            literally. If one parameter takes JSON, NAME=VALUE with any other name is a member of it: query=Berlin limit=1. So \
            is its own name (order=5 is {"order": 5}), unless VALUE begins with { or [. If the first parameter takes no \
            JSON, an object as the only argument has them all by name: {"a": 1, "b": 2}. A composite is called like a leaf; \
            its policy decides which children answer. Write -- before an argument that begins with a hyphen.

            If a host runs on the same file (connector-host run), it makes the call, and no gate opens here.

            Exit status: 0 if the operation succeeded; 1 if it failed, or the arguments do not fit; 2 if the configuration is \
            invalid; 64 for wrong usage; 130 after Ctrl-C and 143 after SIGTERM, once the gates have closed.

            Examples:
              connector-host call geocoder geocode query=Berlin limit=1 --simulate
              connector-host call database create notes '{"title": "Milk"}'
              connector-host call analytics track '{"event": "Seen", "userId": "u1"}'
              connector-host call calculator add a=1 b=2 --json
            """
    )

    @Argument(help: "The connector, such as database or analytics/segment.", completion: ConnectorCompletion.paths)
    var path: String

    @Argument(
        help: """
            The operation; capability/operation if two capabilities share its name, capability/version/operation if two versions do.
            """,
        completion: ConnectorCompletion.operations
    )
    var operation: String

    @Argument(help: ArgumentHelp("The arguments, in order or as NAME=VALUE.", valueName: "argument"))
    var arguments: [String] = []

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted.")
    var simulate = false

    @OptionGroup var answers: AnswersOption

    @OptionGroup var learning: LearnOption

    @Option(
        help: ArgumentHelp("The timeout of the call. (default: 30s)", valueName: "duration"),
        transform: Duration.argument
    )
    var timeout: Duration?

    @OptionGroup var attach: AttachOption

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    /// Whether the options require the command to run a host of its own.
    private var isOwn: Bool { answers.isGiven || learning.isGiven }

    func validate() throws {
        try attach.validate(isOwn: isOwn)
        try answers.validate(isSimulated: simulate)
    }

    func run() async throws {
        if try await runAttached() { return }
        let session = try await HostSession.start(
            file,
            simulating: answers.request(isSimulated: simulate),
            lessons: learning.lessons(),
            answer: answer,
            logger: log.logger
        )
        do throws(ConnectorError) {
            let result = try await call(session)
            answer.output.write(AnswerDocument(path: path, operation: operation, result: result))
        } catch {
            answer.report(callFailure: error, in: session.host.report)
            try await session.close()
            throw ExitStatus.failed
        }
        try await session.close()
    }

    /// Makes the call through the running host.
    ///
    /// - Returns: False if no host runs.
    private func runAttached() async throws -> Bool {
        var signals: Interruption?
        var attached: AttachedHost?
        do throws(ConnectorError) {
            guard let host = try await attach.host(of: file, isSimulated: simulate, isOwn: isOwn) else { return false }
            attached = host
            let interruption = Interruption()
            signals = interruption
            let timeout = timeout ?? .seconds(30)
            let result = try await interruption.cancelling { [self] () async throws(ConnectorError) in
                try await host.call(path, operation, words: arguments, timeout: timeout)
            }
            answer.output.write(AnswerDocument(path: path, operation: operation, result: result))
            return true
        } catch {
            let report = Remedy.dependsOnReport(error) ? try? await attached?.report() : nil
            answer.report(callFailure: error, in: report)
            throw signals?.exitStatus ?? ExitStatus.failed
        }
    }

    /// Opens the connector and makes the call. Validates the arguments before any gate opens.
    private func call(_ session: HostSession) async throws(ConnectorError) -> JSONValue {
        let gate = try session.host.gate(path)
        let definition: (capability: Capability, operation: Operation)
        do throws(ConnectorError) {
            definition = try gate.definition(of: operation)
        } catch {
            throw session.resolved.failure(at: path) ?? error
        }
        let reader = ArgumentReader(definition.operation, of: definition.capability.id)
        let values = try reader.arguments(arguments)
        _ = try await session.open(path)
        var options = CallOptions(timeout: timeout ?? .seconds(30))
        options.keepsTimeout = true
        return try await session.interruption.cancelling { [operation, options] () async throws(ConnectorError) in
            try await gate.call(operation, values, options: options)
        }
    }
}
