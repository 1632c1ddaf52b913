// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorOutbox

/// The options of every outbox command.
struct OutboxOptions: ParsableArguments {
    @OptionGroup var file: ConfigurationOption

    @Option(
        help: ArgumentHelp("Only this connector and those below it.", valueName: "path"),
        completion: ConnectorCompletion.paths
    )
    var gate: String?

    @Flag(help: "Use the simulated host that runs on the file: its events are in no other place.")
    var simulate = false

    @OptionGroup var attach: AttachOption

    @OptionGroup var answer: OutputOptions

    func validate() throws {
        if gate?.isEmpty == true { throw ValidationError("--gate needs the path of a connector.") }
        if simulate, attach.attach == false {
            throw ValidationError("Only the host that simulates has its events: remove --no-attach, or --simulate.")
        }
    }

    /// Runs a body on the outbox and prints its document or error.
    ///
    /// - Parameter body: Receives the outbox of the running host or, if none runs, the store.
    func run(_ body: (any OutboxAccess) async throws(ConnectorError) -> any Document) async throws {
        if !simulate, let read = Configuration.examine(file: file.file, environment: .process).configuration {
            for events in await StrandedEvents.find(read, state: nil) { StandardStream.warn("\(events)") }
        }
        do throws(ConnectorError) {
            var attach = attach
            if simulate { attach.attach = true }
            if let host = try await attach.host(of: file, isSimulated: simulate) {
                answer.output.write(try await body(AttachedOutbox(host: host, gate: gate)))
                return
            }
        } catch {
            answer.report([error], of: .call)
            throw ExitStatus.failed
        }
        Interruption.endAtOnce()
        let options = ConnectorHost.Options()
        let configuration = try answer.checked { () throws(ConfigurationErrors) in
            try Configuration.read(file: file.file, environment: options.environment)
        }
        do throws(ConnectorError) {
            let engine = try await configuration.openOutbox(
                state: options.stateDirectory,
                clock: options.clock,
                onDamage: StandardStream.warn
            )
            let store = StoredOutbox(
                engine: engine,
                configuration: configuration,
                gate: gate
            )
            let document: Result<any Document, ConnectorError>
            do throws(ConnectorError) {
                document = .success(try await body(store))
            } catch {
                document = .failure(error)
            }
            await engine?.close()
            answer.output.write(try document.get())
        } catch {
            answer.report([error], of: .call)
            throw ExitStatus.failed
        }
    }
}
