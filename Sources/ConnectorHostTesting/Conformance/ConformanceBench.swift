// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// Tests one loaded plugin against the rules.
final class ConformanceBench: Sendable {
    private let table: PluginTable
    private let manifest: Manifest
    private let configurations: [ConformanceConfiguration]
    /// The index of the configuration in use.
    private let chosen = Mutex(0)
    private let options: PluginConformance.Options
    private let services: HostServices
    private let found = Mutex<[PluginConformance.Finding]>([])

    /// Creates a bench without running any check.
    init(
        _ table: PluginTable,
        manifest: Manifest,
        _ configurations: [ConformanceConfiguration],
        _ options: PluginConformance.Options
    ) {
        self.table = table
        self.manifest = manifest
        self.configurations = configurations
        self.options = options
        self.services = HostServices(serving: HostServices.Options())
    }

    /// Every broken rule, once for each way it was broken.
    var findings: [PluginConformance.Finding] { found.withLock(\.self) }

    private var configuration: ConformanceConfiguration { configurations[chosen.withLock(\.self)] }

    private func report(_ finding: PluginConformance.Finding) {
        found.withLock { found in
            if !found.contains(finding) { found.append(finding) }
        }
    }

    /// Stops the services.
    func stop() async {
        await services.stop()
    }

    // MARK: Checks

    /// Checks that `create` does not crash on texts that are not a JSON object.
    func checkWrongConfigurations() async {
        for text in ConformanceConfiguration.wrong {
            guard let creation = await create(Array(text.utf8), isWrong: true) else { return }
            if creation.leftInstance {
                report(.init(.creation, "create failed, but left an instance that is never destroyed"))
            }
            if creation.status == Int32(CONNECTOR_OK) { await destroy(creation.instance) }
        }
    }

    /// Finds a configuration that the plugin accepts.
    ///
    /// - Returns: Whether there is one. If a plugin refuses all of them for a reason other than their values, the first
    ///   is used.
    func chooseConfiguration() async -> Bool {
        var refusal: ConformanceInstance.Creation?
        for index in configurations.indices where configurations[index].isMade {
            chosen.withLock { $0 = index }
            guard let creation = await create(configuration.text, isWrong: true) else { return false }
            if creation.status == Int32(CONNECTOR_OK) {
                await destroy(creation.instance)
                return true
            }
            refusal = creation
        }
        guard let refusal else { return true }
        report(
            .init(
                .configuration,
                "create refused the configuration that the suite generated from the manifest's fields (status "
                    + "\(refusal.status): \(refusal.message)); pass one: PluginConformance.Options(config:)"
            )
        )
        return false
    }

    /// Runs one instance through create → open → probe → close → destroy.
    ///
    /// - Returns: Whether `create` succeeded and `open` completed.
    @discardableResult
    func checkLifeCycle() async -> Bool {
        guard let instance = await make() else { return false }
        let opening = await run(.open, on: instance)
        if opening == .held { return false }
        if opening == .succeeded {
            _ = await run(.probe, on: instance)
            await checkCancellation(of: instance)
        }
        _ = await run(.close, on: instance)
        await destroy(instance)
        return opening != .pending
    }

    /// Runs two instances of one image concurrently.
    func checkConcurrentInstances() async {
        guard let first = await make(), let second = await make() else { return }
        _ = await run(.open, on: first)
        _ = await run(.open, on: second)
        _ = await run(.close, on: first)
        await destroy(first)
        _ = await run(.probe, on: second)
        _ = await run(.close, on: second)
        await destroy(second)
    }

    /// Opens an instance, cancels the opening immediately, and destroys the instance in whatever state it is.
    func checkCancelledOpen() async {
        guard let instance = await make() else { return }
        let (operation, answer) = instance.host.begin("open")
        let deadline = services.clock.now()
        let isTaken = await onThread("open") { [report] in
            instance.start(.open, operation, deadline: deadline, report)
        }
        guard let isTaken else { return }
        guard await onThread("cancel", { instance.cancel(operation) }) != nil else { return }
        if isTaken { _ = await answer.wait(for: options.patience, on: services.clock) }
        await destroy(instance)
    }

    /// Destroys an instance that was never opened.
    func checkUnopened() async {
        guard let instance = await make() else { return }
        await destroy(instance)
    }

    /// Waits for a while, to detect late calls.
    func awaitLateCalls() async {
        _ = await OneShot<Void>().wait(for: options.patience, on: services.clock)
    }

    /// Cancels a completed call and an unknown one, twice each.
    private func checkCancellation(of instance: ConformanceInstance) async {
        let before = findings.count
        let (operation, answer) = instance.host.begin("a call that it never received")
        for _ in 0..<2 {
            guard await onThread("cancel", { instance.cancel(operation) }) != nil else { return }
        }
        let completion = await answer.wait(for: options.patience, on: services.clock)
        if completion != nil || findings.count > before {
            report(.init(.cancellation, "cancel completed a call that the plugin was never given"))
        }
    }

    // MARK: Steps

    /// The stand-ins for the gates that the plugin uses; nil if it uses none.
    private var gates: UsedGates? {
        guard !manifest.uses.isEmpty else { return nil }
        let unbound = manifest.uses.filter { $0.isOptional && options.gates[$0.name] == nil }.map(\.name)
        let bound = manifest.uses.map(\.name).filter { !unbound.contains($0) }
        return UsedGates(bound, unbound: unbound) { [doubles = options.gates] call in
            do throws(ConnectorError) {
                guard let double = doubles[call.use] else {
                    throw ConnectorError(.notOpen, "the suite was given no gate \"\(call.use)\"", isRetryable: true)
                }
                return .success(try await double(call.operation, call.arguments).utf8())
            } catch {
                return .failure(ServiceFailure(error))
            }
        }
    }

    private func make() async -> ConformanceInstance? {
        guard let creation = await create(configuration.text) else { return nil }
        guard creation.status == Int32(CONNECTOR_OK) else {
            report(
                .init(
                    .creation,
                    "create refused the configuration that the suite was given (status \(creation.status))"
                )
            )
            return nil
        }
        return creation.instance
    }

    /// - Parameter isWrong: Whether the plugin may reject the text as malformed.
    private func create(_ text: [UInt8], isWrong: Bool = false) async -> ConformanceInstance.Creation? {
        let services = GateServices(
            host: services,
            context: GateServices.Context(
                path: "conformance",
                services: manifest.requiredServices + manifest.optionalServices,
                egress: options.allowedHosts,
                secret: { [secrets = configuration.secrets] in secrets[$0]?.reveal() },
                redactor: Redactor(Array(configuration.secrets.values)),
                gates: gates,
                logger: Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        let host = RecordingHost(services) { [weak self] in self?.report($0) }
        return await onThread("create") { [table, report] in
            ConformanceInstance.create(table, text, isWrong: isWrong, host, services, report)
        }
    }

    /// The result of a step.
    private enum Outcome {
        case succeeded
        case failed
        /// The step did not complete in time.
        case pending
        /// The step's function did not return in time, so the instance cannot be destroyed safely.
        case held
    }

    /// Runs a step and awaits its completion.
    private func run(_ step: ConformanceInstance.Step, on instance: ConformanceInstance) async -> Outcome {
        guard instance.has(step) else { return .succeeded }
        let (operation, answer) = instance.host.begin(step.rawValue)
        let deadline = services.clock.now() &+ options.timeout.nanoseconds
        let isTaken = await onThread(step.rawValue) { [report] in
            instance.start(step, operation, deadline: deadline, report)
        }
        guard let isTaken else { return .held }
        guard isTaken else { return .failed }
        guard let completion = await answer.wait(for: options.timeout, on: services.clock) else {
            report(.init(.completion, "\(step) did not complete within \(options.timeout)"))
            return .pending
        }
        guard completion.status == Int32(CONNECTOR_OK) else { return .failed }
        if step != .close { check(completion.result, of: step) }
        return .succeeded
    }

    private func check(_ text: [UInt8], of step: ConformanceInstance.Step) {
        do throws(ConnectorError) {
            _ = try Evidence.read(text, at: Timestamp(nanoseconds: 0), duration: .zero, redactor: Redactor())
        } catch {
            report(.init(.evidence, "\(step): \(error.message)"))
        }
    }

    private func destroy(_ instance: ConformanceInstance) async {
        await instance.services.stopAndAwaitCallbacks()
        _ = await onThread("destroy") { instance.destroy() }
    }

    /// Runs a plugin's function on a worker thread; nil if the function does not return in time.
    private func onThread<Value: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        let answer = OneShot<Value>()
        services.run { answer.send(body()) }
        let value = await answer.wait(for: options.timeout, on: services.clock)
        if value == nil { report(.init(.blocking, "\(name) held its thread for more than \(options.timeout)")) }
        return value
    }
}
