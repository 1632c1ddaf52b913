// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Logging

/// The plugin as the only gate of a host, connected to what answers in place of its vendor.
struct ConformanceGate: Sendable {
    /// The host, whose only connector is `plugin`.
    let host: ConnectorHost
    let client: GateClient
    let manifest: Manifest
    /// Whether calls reach a simulated vendor on this machine, or no vendor at all.
    let isSimulated: Bool
    /// How the gate opened.
    let report: GateReport

    /// The operations that the checks may call: with a simulated vendor all, otherwise those that only read. Operations that the
    /// outbox delivers and those that have handles are left out.
    var callable: [(capability: Capability, operation: Operation)] {
        manifest.callable.flatMap { capability in
            capability.operations.filter { operation in
                let values = operation.signature.parameters.map(\.type) + operation.signature.results.map(\.type)
                return (isSimulated || operation.isSafe) && !operation.isDelivered && !values.contains(.handle)
            }.map { (capability, $0) }
        }
    }

    /// The name of an operation, qualified by its capability so that no other operation has it.
    func name(_ capability: Capability, _ operation: Operation) -> String {
        manifest.capabilities.label(of: operation.name, in: capability.id)
    }
}

extension RuleRun {
    /// Opens the plugin as a gate of a host.
    ///
    /// - Parameters:
    ///   - isIsolated: Whether it runs in a runner; nil for what the options say.
    ///   - sandbox: The level of the sandbox; nil for none.
    ///   - mayFail: Whether to return a gate that does not open, rather than throw.
    func gate(
        isIsolated: Bool? = nil,
        sandbox: String? = nil,
        mayFail: Bool = false
    ) async throws -> ConformanceGate {
        let manifest = try manifest()
        guard case .file(let path) = subject else {
            throw RuleStop.inapplicable("a linked plugin is checked as a gate with its application")
        }
        guard manifest.uses.allSatisfy(\.isOptional) else {
            throw RuleStop.inapplicable("it uses other gates, which only an application has")
        }
        let vendor = try await ConformanceVendor.start(for: manifest, self)
        guard let made = try ConformanceConfiguration.all(options, manifest: manifest, vendor: vendor).first else {
            throw RuleStop.found
        }
        var isSimulated = true
        if case .configured = vendor {
            isSimulated = made.leaf?.makesNoRequests ?? false
            guard isSimulated || !options.config.isEmpty else {
                throw RuleStop.unchecked(
                    "nothing answers in place of the vendor: pass --answers FILE, or --config with a server for tests"
                )
            }
        }
        var connector: JSONObject = [
            "name": "plugin", "plugin": .string(manifest.id), "config": .object(made.config), "timeout": "5s",
        ]
        if isIsolated ?? options.isIsolated {
            connector["isolation"] = "process"
            if let sandbox { connector["sandbox"] = .string(sandbox) }
        }
        let document: JSONValue = ["version": 1, "connectors": [.object(connector)]]
        let environment = Configuration.Environment(made.variables)
        let lookup = PluginLookup(files: [path])
        var resolved: ResolvedConfiguration
        do throws(ConfigurationErrors) {
            let configuration = try Configuration(parsing: document.description, environment: environment)
            resolved = try configuration.resolved(environment: environment, manifest: lookup.manifest)
        } catch {
            throw RuleStop.unchecked(error.sentences.joined(separator: "; "))
        }
        if case .server(let base, _, let time) = vendor {
            resolved = resolved.pointing { _, _ in .server(base, time: time) }
        }
        let scratch = try options.scratch ?? temporaryDirectory()
        var hostOptions = ConnectorHost.Options(
            environment: environment,
            pluginDirectories: [],
            stateDirectory: scratch
        )
        hostOptions.outbox = .memory
        hostOptions.heals = false
        hostOptions.runner = options.runner
        let host = ConnectorHost(
            resolved,
            plugins: lookup,
            source: ConfigurationSource(environment: environment) { _ in lookup },
            options: hostOptions,
            logger: Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() }
        )
        atEnd { await host.close() }
        trace.add("open the gate")
        let report = await host.open()
        guard let gate = report["plugin"], mayFail || gate.state == .open else {
            let reason = report["plugin"]?.error?.description ?? "it is not open"
            let fix =
                options.answers == nil
                ? "pass --answers FILE or --config JSON"
                : "pass --config JSON with the settings that the answers are for, such as an endpoint with a path"
            throw RuleStop.unchecked("the gate does not open (\(reason)); \(fix)")
        }
        return ConformanceGate(
            host: host,
            client: try host.gate("plugin"),
            manifest: manifest,
            isSimulated: isSimulated,
            report: gate
        )
    }
    /// Creates a directory for the state of a host, and removes it at the end of the check.
    private func temporaryDirectory() throws(RuleStop) -> String {
        do throws(SystemError) {
            let directory = try TemporaryDirectory("connector-conformance")
            atEnd { directory.remove() }
            return directory.path
        } catch {
            throw .unchecked("no directory can be made in \(TemporaryDirectory.parent): \(error.text)")
        }
    }
}
