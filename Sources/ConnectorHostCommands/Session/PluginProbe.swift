// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Logging

/// How a plugin fared when it was really loaded and opened, in a disposable runner of its own.
///
/// The runner has the usual sandbox, and the plugin may reach no host. Required fields without a default get placeholders.
struct PluginProbe: Sendable {
    /// How far the plugin got.
    enum Outcome: String, Sendable {
        /// It opened, with evidence.
        case opens
        /// It loads, but does not open here, without its vendor or with placeholders for its configuration.
        case loads
        /// It cannot be loaded, ended its runner, broke a rule, or did not answer.
        case fails
    }

    /// How far the plugin got.
    var outcome: Outcome
    /// The evidence that it opened.
    var evidence: [Evidence] = []
    /// Why it did not open.
    var error: ConnectorError?
    /// The time from the start of the runner to the outcome; nil if unknown.
    var duration: Duration?
    /// How well the sandbox confined it.
    var sandbox: String?
    /// The private memory of the runner with the open plugin, in bytes.
    var memory: Int64?

    /// The maximum time for loading and opening together.
    private static let timeout: Duration = .seconds(10)

    /// Loads and opens a plugin, then ends its runner.
    ///
    /// - Parameters:
    ///   - path: The image or the sidecar.
    ///   - manifest: The plugin's manifest.
    ///   - admission: The lock and the keys that admit its files, if there are any.
    ///   - interruption: Its first signal ends the probe.
    static func run(
        _ path: String,
        _ manifest: Manifest,
        _ admission: PluginAdmission,
        _ interruption: Interruption
    ) async -> PluginProbe {
        var options = ConnectorHost.Options()
        options.heals = false
        options.outbox = .memory
        let folder = try? TemporaryDirectory("connector-probe")
        defer { folder?.remove() }
        // Nothing that the plugin stores outlives the probe.
        if let folder { options.stateDirectory = folder.path }
        do throws(ConfigurationErrors) {
            var configuration = try Configuration(
                connectors: [connector(path.absolutePath, manifest)],
                requiresTrust: admission.requiresSignature
            )
            // The files may change between the listing and the loading, so the bytes that are loaded are checked again.
            (configuration.lock, configuration.trustedKeys) = (admission.lock, admission.keys)
            let host = try ConnectorHost(
                configuration,
                options: options,
                logger: Logger(label: "connector-host") { _ in SwiftLogNoOpLogHandler() }
            )
            let report = await interruption.cancelling { await host.open() }
            let probe = PluginProbe(report["probe"], in: report)
            await host.close()
            return probe
        } catch {
            return PluginProbe(outcome: .fails, error: error.errors.first)
        }
    }

    private init(outcome: Outcome, error: ConnectorError?) {
        self.outcome = outcome
        self.error = error
    }

    private init(_ gate: GateReport?, in report: Report) {
        evidence = gate?.state == .open ? gate?.evidence ?? [] : []
        error = gate?.error
        duration = gate?.openDuration
        sandbox = gate?.sandbox
        memory = report.runners.first?.memory
        switch error {
        case nil: outcome = .opens
        case let error?:
            let faults: [ConnectorError.Code] = [.crashed, .misbehaved, .timedOut]
            outcome = gate?.plugin?.sha256 != nil && !faults.contains(error.code) ? .loads : .fails
            // The fix would be one for a connector.
            if outcome == .loads { self.error?.fix = nil }
        }
    }

    private static func connector(_ path: String, _ manifest: Manifest) -> Connector {
        let missing = manifest.configuration.filter { $0.isRequired && $0.defaultValue == nil }
        return Connector(
            "probe",
            plugin: path,
            config: JSONObject(missing.map { ($0.name, $0.placeholder) }),
            timeout: timeout,
            heal: nil,
            probeInterval: nil,
            allowedHosts: [],
            delivery: .direct,
            isolation: Isolation(.process)
        )
    }
}

extension PluginProbe {
    /// The probe's part of the document.
    var json: JSONValue {
        var object: JSONObject = ["outcome": .string(outcome.rawValue)]
        if !evidence.isEmpty {
            object["evidence"] = .array(
                evidence.map { ["kind": .string($0.kind.rawValue), "detail": .string($0.detail)] }
            )
        }
        object["error"] = error.map(\.json)
        object["milliseconds"] = duration.map { .number(Double($0.nanoseconds / 1000) / 1000) }
        object["sandbox"] = sandbox.map(JSONValue.string)
        object["memoryBytes"] = memory.map(JSONValue.integer)
        return .object(object)
    }

    /// The human-readable lines of the probe.
    func lines(_ style: TextStyle) -> [String] {
        let (mark, text): (TextStyle.Mark, String) =
            switch outcome {
            case .opens: (.good, "opens in a runner")
            case .loads:
                (.warning, "loads in a runner, but does not open there, where it has no vendor and no configuration")
            case .fails: (.bad, "fails in a runner")
            }
        var facts = [duration.map { style.shown($0.brief) }, evidence.last.map { style.shown($0.kind.rawValue) }]
        facts.append(memory.map(\.megabytes))
        let known = facts.compactMap(\.self)
        var lines = [
            style.paint(style.sign(mark), style.colour(mark)) + " " + text
                + (known.isEmpty ? "" : " (\(known.joined(separator: ", ")))")
        ]
        if let error {
            let shown = ErrorLines(error: error, occasion: .probing)
            lines += [shown.headline(style)] + shown.details(style)
        }
        if let sandbox { lines.append(style.paint(style.shown(sandbox), .faint)) }
        return lines
    }
}
