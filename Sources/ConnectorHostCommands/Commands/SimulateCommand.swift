// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorSimulator
internal import Logging

/// `connector-host simulate`: serves the vendors' APIs on the loopback interface until it is interrupted.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Serve the vendors' HTTP APIs on this machine, errors included.",
        discussion: """
            A single vendor is served at the root, several under /NAME/. GET /_received lists the received requests; DELETE \
            /_received clears the list. The accepted credentials are printed with the URLs.

            A fault is TARGET:SETTING,SETTING…; the target is a vendor, or * for all of them. Settings: status=CODE, \
            code=CODE, reset, truncated, garbage, portal, empty, slow=DURATION, header=NAME:VALUE, retry-after=SECONDS, \
            times=N, method=NAME, path=PREFIX. portal responds with 200 and a web page, like a captive portal. A comma within a \
            setting is \\,.

            With --into, the faults replace those of running simulators, including those of run --simulate; without --fault, they \
            are removed.

            Serves until interrupted (Ctrl-C or SIGTERM), then finishes its requests, ends its streams and exits with 0; a second \
            signal exits immediately. Exit status: 1 if the port is not available, or no simulator serves on the port of --into; \
            64 for wrong usage.

            Examples:
              connector-host simulate
              connector-host simulate --vendor kinto --port 8888
              connector-host simulate --fault google:reset \\
                --fault segment:status=503,times=2,retry-after=1
              connector-host simulate --into 41234 --fault google:status=503
            """
    )

    @Option(help: ArgumentHelp("Serve only this vendor; repeat it for several.", valueName: "name"))
    var vendor: [String] = []

    @Option(help: ArgumentHelp("The port on 127.0.0.1; 0 for any free port.", valueName: "number"))
    var port = 0

    @Option(help: ArgumentHelp("A fault to inject; repeat it for several.", valueName: "spec"))
    var fault: [String] = []

    @Option(
        help: ArgumentHelp("Inject the faults into the running simulators on this port.", valueName: "number")
    )
    var into: Int?

    @OptionGroup var answer: OutputOptions

    @OptionGroup var log: LogOptions

    func validate() throws {
        guard let into else {
            _ = try options()
            return
        }
        guard (1...65535).contains(into) else { throw ValidationError("Invalid port: \(into).") }
        guard vendor.isEmpty, port == 0 else {
            throw ValidationError("--into is for running simulators: it cannot be combined with --vendor or --port.")
        }
    }

    func run() async throws {
        if let into { return try await put(into: into) }
        let simulator = try Simulator(try options())
        let (output, logger) = (answer.output, log.logger)
        let interruption = Interruption()
        interruption.explain { ["requests in progress"] }
        let announcing = Task {
            output.write(try await SimulatorDocument(simulator))
        }
        // Not cancelled by a signal, because that would break off the requests in progress.
        let serving = Task { try await simulator.run() }
        let end = await interruption.cancelling { () async -> Result<Void, any Error> in
            await withTaskCancellationHandler {
                await serving.result
            } onCancel: {
                logger.info("stopping; finishing the requests in progress")
                simulator.stop()
            }
        }
        do {
            try end.get()
        } catch {
            announcing.cancel()
            let reason = error as? ConnectorError
            answer.report([
                ConnectorError(
                    .unavailable,
                    "the simulator cannot serve on port \(port)",
                    fix: reason?.fix ?? "choose another port, or 0 for any free port",
                    cause: reason?.message ?? String(describing: error)
                )
            ])
            throw ExitStatus.failed
        }
    }

    /// Injects the faults into running simulators.
    private func put(into port: Int) async throws {
        do throws(ConnectorError) {
            answer.output.write(FaultsDocument(json: try await FaultClient(port: port).put(fault)))
        } catch {
            answer.report([error])
            throw error.code == .invalid ? ExitCode.validationFailure : ExitStatus.failed
        }
    }

    /// The simulator's options, from the arguments.
    private func options() throws -> SimulatorOptions {
        var options = SimulatorOptions()
        guard (0...65535).contains(port) else { throw ValidationError("Invalid port: \(port).") }
        for name in vendor where !VendorCatalogue.names.contains(name) {
            throw ValidationError(SimulatorError.unknownVendor(name).description)
        }
        if !vendor.isEmpty { options.vendors = VendorCatalogue.names.filter(vendor.contains) }
        options.port = port
        do throws(FaultError) {
            for text in fault { options.faults.append(try Fault(text, vendors: options.vendors)) }
        } catch {
            throw ValidationError(String(describing: error))
        }
        return options
    }
}
