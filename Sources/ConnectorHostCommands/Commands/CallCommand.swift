// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest

/// `connector-host call`: opens the gates it needs, calls one operation, and shows the answer.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call an operation of a connector, and show its answer.",
        discussion: """
            Each argument is the value of the next parameter, or NAME=VALUE. Values are JSON, except that strings are taken as
            they are. A composite is called like a leaf; its policy decides which children answer. Write -- before an argument
            that begins with a hyphen.

            Exit status: 0 if the operation succeeded; 1 if it failed, or the arguments do not fit; 2 if the configuration is
            invalid; 64 for wrong usage; 130 after Ctrl-C and 143 after SIGTERM, once the gates are closed.

            Examples:
              connector-host call geocoder geocode query=Berlin limit=1
              connector-host call database create notes '{"title": "Milk"}'
              connector-host call analytics track '{"event": "Order Completed", "userId": "u1"}' --simulate
              connector-host call calculator add a=1 b=2 --json
            """
    )

    @Argument(help: "The connector, such as database or analytics/segment.")
    var path: String

    @Argument(help: "The operation; capability/operation where two capabilities share a name.")
    var operation: String

    @Argument(help: ArgumentHelp("The arguments, in order or as NAME=VALUE.", valueName: "argument"))
    var arguments: [String] = []

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Point every gate at a simulator in this process; no vendor is contacted.")
    var simulate = false

    @Option(
        help: ArgumentHelp("The longest wait for the answer. (default: 30s)", valueName: "duration"),
        transform: Duration.argument
    )
    var timeout: Duration?

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    func run() async throws {
        let session = try await HostSession.start(file, simulating: simulate, answer: answer, logger: log.logger)
        do throws(ConnectorError) {
            let result = try await call(session)
            answer.output.write(AnswerDocument(path: path, operation: operation, result: result))
        } catch {
            answer.report([error], of: .call)
            try await session.close()
            throw ExitStatus.failed
        }
        try await session.close()
    }

    /// Reports wrong arguments before any gate opens.
    private func call(_ session: HostSession) async throws(ConnectorError) -> JSONValue {
        let gate = try session.host.gate(path)
        let operations = gate.capabilities.flatMap { capability in
            capability.operations.map { (capability: capability, operation: $0) }
        }
        let called = operations.first { capability, candidate in
            candidate.name == operation || "\(capability.id.name)/\(candidate.name)" == operation
        }
        guard let called else {
            if let reason = session.resolved.failure(at: path) { throw reason }
            let known = operations.map(\.operation.name)
            throw ConnectorError(
                .unsupported,
                "\(path) has no operation \"\(operation)\"",
                fix: suggestion(for: operation, among: known) ?? "run: connector-host operations \(path)"
            )
        }
        let reader = ArgumentReader(operation: operation, signature: called.operation.signature)
        let values = try reader.arguments(arguments)
        _ = try await session.open(path)
        let options = CallOptions(timeout: timeout ?? .seconds(30))
        return try await session.interruption.cancelling { [operation] () async throws(ConnectorError) in
            try await gate.call(operation, values, options: options)
        }
    }
}
