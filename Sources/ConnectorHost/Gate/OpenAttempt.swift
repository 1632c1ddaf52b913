// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Logging
internal import Synchronization

/// One attempt to open a gate: load, create, open, read the evidence.
///
/// If the deadline passes while the plugin holds the thread, the attempt fails at once, and what the plugin has made is
/// disposed of when it lets the thread go.
final class OpenAttempt: Sendable {
    private let environment: GateEnvironment
    private let services: GateServices
    private let context: HostContext
    private let configuration: [UInt8]
    private let state = Mutex(State())

    private struct State {
        var instance: PluginInstance?
        var operation: UInt64?
        var hasFailed = false
    }

    /// Ends the attempt from outside, which then fails with an error, and tells the plugin.
    func giveUp(_ error: ConnectorError) {
        _ = environment.operations.giveUpAll(owner: context.owner, error)
    }

    /// Prepares what the plugin will be lent.
    init(
        environment: GateEnvironment,
        plan: GatePlan,
        logger: Logger,
        onMisbehaviour: @escaping @Sendable (String) -> Void
    ) {
        self.environment = environment
        self.configuration = plan.configuration
        let manifest = try? plan.plugin.get().manifest
        self.services = GateServices(
            host: environment.services,
            context: GateServices.Context(
                path: plan.path,
                services: manifest.map { $0.requiredServices + $0.optionalServices } ?? [],
                egress: plan.egress.map(\.description),
                secret: { [secrets = plan.secrets] in secrets[$0]?.reveal() },
                redact: { [redactor = environment.redactor] in redactor.redact($0) },
                logger: logger
            )
        )
        self.context = HostContext(
            operations: environment.operations,
            services: services,
            onMisbehaviour: onMisbehaviour
        )
    }

    /// Runs the attempt; on failure nothing of it is left, or will be once the plugin returns.
    func run(
        _ candidate: PluginCandidate,
        by deadline: UInt64
    ) async -> Result<(PluginInstance, [Evidence]), ConnectorError> {
        let start = environment.clock.now()
        let outcome = await environment.call(
            "open",
            owner: context.owner,
            deadline: deadline,
            { self.start(candidate, operation: $0, deadline: deadline) },
            onDeadline: { _ in }
        )
        let result = outcome.flatMap { environment.evidence(in: $0, startedAt: start) }
        let (instance, operation) = state.withLock { state in
            if case .failure = result { state.hasFailed = true }
            return (state.instance, state.operation)
        }
        switch (result, instance) {
        case (.success(let evidence), let instance?): return .success((instance, evidence))
        case (.success, nil):
            return .failure(ConnectorError(.failed, "the plugin completed open before it was created"))
        case (.failure(let error), let instance):
            if let instance, let operation {
                // Told to stop before its requests end under it, so that it does not answer a call that nobody waits for.
                environment.lifecycle.run {
                    instance.cancel(operation)
                    instance.dispose()
                }
            }
            return .failure(error)
        }
    }

    /// Runs on a worker thread.
    private func start(_ candidate: PluginCandidate, operation: UInt64, deadline: UInt64) {
        do throws(ConnectorError) {
            let plugin = try environment.loader.load(candidate)
            for id in plugin.manifest.requiredServices where !HostServices.identifiers.contains(id) {
                throw ConnectorError(
                    .unsupported,
                    "the plugin needs the host service \(id), which this host does not have",
                    fix: "use a newer host or an older plugin"
                )
            }
            let instance = try PluginInstance(
                of: plugin,
                configuration: configuration,
                environment: environment,
                context: context,
                services: services
            )
            let isTooLate = state.withLock { state in
                state.instance = instance
                state.operation = operation
                return state.hasFailed
            }
            if isTooLate { return instance.dispose() }
            instance.begin(.open, operation: operation, deadline: deadline)
        } catch {
            environment.operations.complete(operation, owner: context.owner, .failure(error))
            // Nothing was created: what the plugin was lent meanwhile goes back.
            Task(executorPreference: environment.lifecycle) { [self] in
                await services.close()
                context.withdraw()
                services.invalidate()
            }
        }
    }
}

extension GateEnvironment {
    /// Reads what `open` or `probe` completed with.
    func evidence(in text: [UInt8], startedAt start: UInt64) -> Result<[Evidence], ConnectorError> {
        let now = clock.now()
        do throws(ConnectorError) {
            var evidence = try Evidence.read(
                text,
                at: clock.wallTime(),
                duration: .nanoseconds(Int64(clamping: now - min(start, now)))
            )
            for index in evidence.indices { evidence[index].detail = redactor.redact(evidence[index].detail) }
            return .success(evidence)
        } catch {
            return .failure(error)
        }
    }
}
