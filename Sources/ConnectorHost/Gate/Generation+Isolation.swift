// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices
internal import Synchronization

/// Creates an instance in a runner.
extension Generation {
    /// Checks and seals the plugin's image, hands it to a runner, and makes an instance there.
    ///
    /// - Parameter deadline: In the clock's monotonic time.
    func makeRemoteChannel(
        _ candidate: PluginCandidate,
        by deadline: UInt64
    ) throws(ConnectorError) -> any Channel {
        state.withLock { $0.step = .create }
        var key = key(of: candidate)
        // The process starts while the image is checked.
        dependencies.runners.begin(key)
        let plugin: SealedPlugin?
        let description: InstanceDescription
        do throws(ConnectorError) {
            plugin = try sealed(candidate)
            description = try self.description(of: candidate, plugin)
        } catch {
            dependencies.runners.abandon(key)
            throw error
        }
        let libraries = plugin?.librariesBeside ?? []
        if key.image != nil, !libraries.isEmpty {
            // A runner that has loaded other libraries for the same image cannot take these.
            let begun = key
            key.image?.libraries = libraries
            dependencies.runners.move(begun, to: key)
        }
        state.withLock { $0.libraries = libraries }
        let runner = try hold(key)
        defer { runner.release() }
        let channel = RemoteChannel(
            plan.path,
            candidate.manifest,
            content: plugin?.image.content,
            on: runner,
            dependencies: dependencies.calls,
            context: context,
            services: services
        ) { [weak self] error in
            guard let self else { return }
            state.withLock { $0.loss = error }
            onLoss(self, error)
        }
        state.withLock { $0.remoteChannel = channel }
        guard key.sandbox.level != .required || runner.isSandboxWhole else {
            throw .sandboxDoesNotHold(runner.evidence)
        }
        do throws(ConnectorError) {
            try channel.create(description, plugin, by: deadline)
        } catch {
            throw described(error, candidate)
        }
        return channel
    }

    /// Holds the runner of a key, or the plugin's other one if the host may have no more runners: an instance that shares
    /// the current one's is better than none, unless it is a standby.
    private func hold(_ key: RunnerPool.Key) throws(ConnectorError) -> Runner {
        guard !isStandby else { return try dependencies.runners.hold(key) }
        if let runner = try dependencies.runners.holdIfRoom(key) { return runner }
        var key = key
        key.replica = key.replica.other
        let runner = try dependencies.runners.hold(key)
        state.withLock { $0.replica = key.replica }
        return runner
    }

    /// The error of a runner, with what helps against a library that only the runner does not find.
    private func described(_ error: ConnectorError, _ candidate: PluginCandidate) -> ConnectorError {
        guard error.code == .missingDependency else { return error }
        let sandbox = sandboxSettings
        let hides = sandbox.level == .default || sandbox.level == .required
        let shown = sandbox.read + sandbox.write
        let folders = DependencyDiagnosis.namedFolders(of: candidate) { name in
            hides && error.message.contains("needs \(name.excerpt), which")
        }.filter { folder in !shown.contains { folder == $0 || folder.hasPrefix("\($0)/") } }
        guard !folders.isEmpty else {
            var error = error
            error.fix =
                "install the package that has it, or put it beside the plugin, linked with -Wl,-rpath,'$ORIGIN': a runner "
                + "does not have the host's LD_LIBRARY_PATH"
            return error
        }
        return ConnectorError(
            .missingDependency,
            "the sandbox hides libraries that \(candidate.path) needs: \(folders.joined(separator: ", "))",
            fix: "\"sandbox\": {\"read\": [\(folders.map { "\"\($0)\"" }.joined(separator: ", "))]} at the connector",
            cause: error.message
        )
    }

    /// Checks the plugin, and seals it; nil for a library that the runner's dynamic linker finds.
    private func sealed(_ candidate: PluginCandidate) throws(ConnectorError) -> SealedPlugin? {
        switch candidate.image {
        case .file: return try dependencies.loader.admitting(plan.admission).seal(candidate)
        case .library:
            try plan.admission.check(candidate)
            return nil
        case .linked: throw Self.isLinked(candidate)
        }
    }

    /// The key of the instance's runner; connectors with the same key share a runner.
    private func key(of candidate: PluginCandidate) -> RunnerPool.Key {
        if let name = plan.isolation.runner {
            return RunnerPool.Key(name, in: replica, sandbox: sandboxSettings)
        }
        // Each image has its own runner, so that the memory of an old image is freed with its runner.
        return RunnerPool.Key(
            candidate.manifest.id,
            image: RunnerPool.Image(path: candidate.path, stamp: candidate.stamp),
            in: replica,
            sandbox: sandboxSettings
        )
    }

    /// The sandbox settings that apply to the plugin.
    private var sandboxSettings: SandboxSettings {
        var sandbox = plan.isolation.sandbox
        if dependencies.learnsSandbox { sandbox.level = .learn }
        return sandbox
    }

    private func description(
        of candidate: PluginCandidate,
        _ plugin: SealedPlugin?
    ) throws(ConnectorError) -> InstanceDescription {
        let sidecar = try candidate.sidecarBytes()
        let manifest = candidate.embeddedText ?? sidecar.flatMap { $0.copy(at: 0, count: $0.count) } ?? []
        let services = services
        let declared = candidate.manifest.requiredServices + candidate.manifest.optionalServices + ["gates/1"]
        let isLibrary = if case .library = candidate.image { true } else { false }
        return InstanceDescription(
            gate: plan.path,
            // The runner has another working directory.
            path: candidate.absolutePath,
            isLibrary: isLibrary,
            sidecar: candidate.sidecar?.absolutePath,
            isEmbedded: candidate.embeddedText != nil,
            manifest: manifest,
            configuration: plan.configuration.json,
            services: declared.filter { unsafe services.table(named: $0) != nil },
            logLevel: services.logLevel,
            time: declared.contains("clock/1") ? services.fixedTime?.nanoseconds : nil,
            followsHostClock: dependencies.calls.hasOwnClock,
            sha256: plugin.flatMap { $0.image.descriptor < 0 ? $0.image.content.sha256 : nil }
        )
    }

    private static func isLinked(_ candidate: PluginCandidate) -> ConnectorError {
        ConnectorError(
            .unsupported,
            "the plugin \(candidate.name) is linked into the application, so it cannot run in another process",
            fix: "write \"isolation\": \"none\" at its connector"
        )
    }
}
