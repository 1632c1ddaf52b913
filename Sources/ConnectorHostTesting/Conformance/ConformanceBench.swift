// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging

/// Drives the instances of one loaded plugin, and records what it does.
final class ConformanceBench: Sendable {
    let table: PluginTable
    let manifest: Manifest
    let configuration: ConformanceConfiguration
    let run: RuleRun
    let services: HostServices
    /// Where the plugin's functions run.
    private let threads: Threads
    /// The services that the host lends.
    private let lent: [String]
    /// The hosts that the plugin's requests may reach.
    private let hosts: [String]

    /// Where the plugin's functions run.
    enum Threads: Sendable {
        /// On the threads of a pool, as in a host.
        case pool
        /// On one thread, one after another.
        case one(WorkerThreads)
        /// Each on a thread of its own, which then ends.
        case each
    }

    /// Creates a bench without instances.
    init(
        _ table: PluginTable,
        _ manifest: Manifest,
        _ configuration: ConformanceConfiguration,
        _ run: RuleRun,
        threads: Threads = .pool,
        lending services: [String]? = nil,
        reaching hosts: [String]? = nil
    ) {
        self.threads = threads
        lent = services ?? manifest.requiredServices + manifest.optionalServices
        self.hosts = hosts ?? run.options.allowedHosts
        self.table = table
        self.manifest = manifest
        self.configuration = configuration
        self.run = run
        self.services = HostServices(serving: HostServices.Options())
        run.atEnd { [services = self.services] in await services.stop() }
    }

    /// The same bench, with the plugin's functions on other threads, or on a host that lends only these services or allows
    /// requests only to these hosts.
    func with(threads: Threads? = nil, services: [String]? = nil, hosts: [String]? = nil) -> ConformanceBench {
        ConformanceBench(
            table,
            manifest,
            configuration,
            run,
            threads: threads ?? self.threads,
            lending: services ?? lent,
            reaching: hosts ?? self.hosts
        )
    }

    /// How a step ended.
    enum Outcome: Sendable, Equatable {
        case succeeded([UInt8])
        case failed(Int32, String)
        /// The step did not complete in time.
        case pending

        var isSuccess: Bool { if case .succeeded = self { true } else { false } }
    }

    // MARK: Instances

    /// Creates an instance with a text as its configuration.
    ///
    /// - Parameter isWrong: Whether the plugin may reject the text as malformed.
    func create(_ text: [UInt8], isWrong: Bool = false) async throws(RuleStop) -> ConformanceInstance.Creation {
        let user = OneShot<RecordingHost>()
        let services = GateServices(
            host: services,
            context: GateServices.Context(
                path: "conformance",
                services: lent,
                egress: hosts,
                secret: { [secrets = configuration.secrets] in secrets[$0]?.reveal() },
                redactor: Redactor(Array(configuration.secrets.values)),
                gates: gates,
                onUse: { user.value?.serviceIsUsed() },
                logger: Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        let declared =
            manifest.requiredServices + manifest.optionalServices + (manifest.uses.isEmpty ? [] : ["gates/1"])
        let host = RecordingHost(services, declared: declared, trace: run.trace) { [weak run] in run?.report($0, $1) }
        user.send(host)
        return try await onThread("create \(String(decoding: text.prefix(200), as: UTF8.self))") { [table, run] in
            ConformanceInstance.create(table, text, isWrong: isWrong, host, services, run.report)
        }
    }

    /// Creates an instance with the configuration.
    func make() async throws(RuleStop) -> ConformanceInstance {
        let creation = try await create(configuration.text, isWrong: true)
        guard creation.status == Int32(CONNECTOR_OK) else {
            run.report(
                configuration.isMade ? .configuration : .creates,
                "create refused a configuration that fits the manifest (status \(creation.status): \(creation.message))"
            )
            throw .found
        }
        return creation.instance
    }

    /// Runs a step and awaits its completion.
    func run(_ step: ConformanceInstance.Step, on instance: ConformanceInstance) async throws(RuleStop) -> Outcome {
        guard let answer = try await begin(step, on: instance) else { return .succeeded([]) }
        guard let completion = await answer.wait(for: run.options.timeout, on: services.clock) else {
            run.report(step.completes, "\(step) did not complete within \(run.options.timeout)")
            return .pending
        }
        guard completion.status == Int32(CONNECTOR_OK) else { return .failed(completion.status, completion.message) }
        if step != .close { check(completion.result, of: step) }
        return .succeeded(completion.result)
    }

    /// Starts a step.
    ///
    /// - Returns: What receives its completion; nil if the plugin has no such step.
    func begin(
        _ step: ConformanceInstance.Step,
        on instance: ConformanceInstance,
        deadline: UInt64? = nil
    ) async throws(RuleStop) -> OneShot<RecordingHost.Completion>? {
        guard instance.has(step) else { return nil }
        let (operation, answer) = instance.host.begin(step.rawValue)
        let deadline = services.clock.now() &+ (deadline ?? run.options.timeout.nanoseconds)
        let refusal = try await onThread(step.rawValue) { [run] in
            instance.start(step, operation, deadline: deadline, run.report)
        }
        if let refusal { answer.send(refusal) }
        return answer
    }

    /// Destroys an instance as the host does, after its services have stopped.
    func destroy(_ instance: ConformanceInstance) async throws(RuleStop) {
        await instance.services.stopAndAwaitCallbacks()
        try await onThread("destroy") { instance.destroy() }
    }

    /// Runs one instance through create → open → probe → close → destroy.
    ///
    /// - Returns: How `open` ended.
    @discardableResult
    func lifeCycle(probing: Bool = true) async throws(RuleStop) -> Outcome {
        let instance = try await make()
        let opening = try await run(.open, on: instance)
        if opening.isSuccess, probing { _ = try await run(.probe, on: instance) }
        _ = try await run(.close, on: instance)
        try await destroy(instance)
        return opening
    }

    /// Waits for `patience`, in case the plugin makes a call that it must not make.
    func settle() async {
        _ = await OneShot<Void>().wait(for: run.options.patience, on: services.clock)
    }

    /// Runs a plugin's function on a worker thread.
    ///
    /// - Throws: `RuleStop.found` if the function does not return in time.
    func onThread<Value: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () -> Value
    ) async throws(RuleStop) -> Value {
        run.trace.add(name)
        let function = name.split(separator: " ").first.map(String.init) ?? name
        let answer = OneShot<Value>()
        let job: @Sendable () -> Void = { [run] in
            let mode = FloatingPointMode.current
            let value = body()
            if mode.restore() { run.report(.floatingPoint, "\(function) \(FloatingPointMode.change)") }
            answer.send(value)
        }
        switch threads {
        case .pool: services.run(job)
        case .one(let thread): thread.run(job)
        case .each: if !HostThread.start("conformance", job) { services.run(job) }
        }
        guard let value = await answer.wait(for: run.options.timeout, on: services.clock) else {
            run.report(.returns, "\(function) held its thread for more than \(run.options.timeout)")
            throw .found
        }
        return value
    }

    private func check(_ text: [UInt8], of step: ConformanceInstance.Step) {
        do throws(ConnectorError) {
            _ = try Evidence.read(text, at: Timestamp(nanoseconds: 0), duration: .zero, redactor: Redactor())
        } catch {
            run.report(step == .probe ? .probeEvidence : .openEvidence, "\(step): \(error.message)")
        }
    }

    /// The stand-ins for the gates that the plugin uses; nil if it uses none.
    private var gates: UsedGates? {
        guard !manifest.uses.isEmpty else { return nil }
        let doubles = run.options.gates
        let unbound = manifest.uses.filter { $0.isOptional && doubles[$0.name] == nil }.map(\.name)
        let bound = manifest.uses.map(\.name).filter { !unbound.contains($0) }
        return UsedGates(bound, unbound: unbound) { call in
            do throws(ConnectorError) {
                guard let double = doubles[call.template.use] else {
                    throw ConnectorError(
                        .notOpen,
                        "the suite was given no gate \"\(call.template.use)\"",
                        isRetryable: true
                    )
                }
                return .success(try await double(call.template.operation, call.arguments).utf8())
            } catch {
                return .failure(ServiceFailure(error))
            }
        }
    }
}

extension ConformanceInstance.Step {
    /// The rule that says that the step completes.
    fileprivate var completes: PluginConformance.Rule {
        switch self {
        case .open: .opens
        case .probe: .probeCompletes
        case .close: .closes
        }
    }
}

extension RuleRun {
    /// A bench with the first configuration that the plugin accepts.
    ///
    /// - Parameter hasVendor: Whether to start a stand-in for the vendor, if there is one.
    func bench(hasVendor: Bool = true) async throws -> ConformanceBench {
        let manifest = try manifest()
        let configurations: [ConformanceConfiguration]
        do throws(ConfigurationErrors) {
            // Check the configuration without the vendor first, so that its faults are reported under the rule for configurations.
            _ = try ConformanceConfiguration.all(options, manifest: manifest)
        } catch {
            for sentence in error.sentences { report(.configuration, sentence) }
            throw RuleStop.found
        }
        let table = try table()
        let vendor = hasVendor ? try await ConformanceVendor.start(for: manifest, self) : .configured
        configurations = try ConformanceConfiguration.all(options, manifest: manifest, vendor: vendor)
        var refusal = ""
        for configuration in configurations where configuration.isMade {
            let bench = ConformanceBench(table, manifest, configuration, self)
            let creation = try await bench.create(configuration.text, isWrong: true)
            if creation.status == Int32(CONNECTOR_OK) {
                try await bench.destroy(creation.instance)
                return bench
            }
            refusal = "(status \(creation.status): \(creation.message))"
        }
        guard configurations.allSatisfy(\.isMade), !configurations.isEmpty else {
            return ConformanceBench(table, manifest, configurations[configurations.count - 1], self)
        }
        report(
            .configuration,
            "create refused the configuration that the suite generated from the manifest's fields \(refusal)"
        )
        throw RuleStop.found
    }
}
