// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConfiguration
internal import ConnectorLoading
public import ConnectorManifest
public import ConnectorServices

/// The state of one connector at one moment.
public struct GateReport: Sendable {
    /// The path in the tree, such as `analytics/segment`.
    public var path: String
    /// The other paths of a leaf that is in several places; empty for any other connector.
    public var places: [String] = []
    /// The current state.
    public var state: GateState
    /// The state last requested: `open` or `closed`.
    public var target: GateState
    /// Whether the connector and everything above it is required.
    public var isRequired = true
    /// Whether the connector is ready: an open leaf, or a composite with as many ready children as its policy needs.
    public var isReady = false
    /// The policy of a composite; nil for a leaf.
    public var policy: String?
    /// How many children a composite with the policy `all` needs; nil for every required one.
    public var quorum: Int?
    /// The plugin of a leaf; nil for a composite, and if no plugin was found.
    public var plugin: PluginIdentity?
    /// The evidence of the last proof, weakest first.
    public var evidence: [Evidence]
    /// How long the last opening took, from the first attempt to its end.
    public var openDuration: Duration?
    /// How many attempts the gate has made since it was last open, or since it was last requested to open, including
    /// healing.
    public var attempts: Int
    /// When a failed gate is next retried; nil if no attempt is scheduled.
    public var nextAttemptAt: Timestamp?
    /// Why the gate is not open, or why the last proof failed.
    public var error: ConnectorError?
    /// The operations by capability, such as `["geocoder/1": ["geocode"]]`.
    public var capabilities: [String: [String]]
    /// HTTP traffic of the gate; nil before its first request.
    public var http: HTTPCounters?
    /// How many times the plugin has broken a rule of the ABI.
    public var misbehaviourCount: Int
    /// How often the children of a composite with the policy `compare` or `shadow` disagreed; nil for other policies.
    public var differences: Differences?
    /// How the children of a composite with the policy `canary` perform; nil for other policies.
    public var canary: CanaryReport?
    /// The state of the connector's outbox; nil if it never had an event.
    public var outbox: OutboxReport?
    /// How many calls by name the connector received, and how many failed; nil before the first.
    public var calls: CallCounters?
    /// Problems that do not prevent the gate from opening but should be fixed, such as plugin files that other users
    /// can modify.
    public var warnings: [String] = []
    /// The paths of the connectors that the plugin uses, by the names in its manifest.
    ///
    /// While one of them is not open, an open gate is degraded, and its error names that connector, unless the use is optional.
    public var uses: [String: String] = [:]
    /// The plugin's secrets by field, without their values: the age of each, and whether it is in use. Secrets written
    /// in the file itself are left out.
    public var secrets: [SecretReport] = []
    /// Whether the gate's vendor or plugin is simulated; for a composite, whether any gate below it is.
    public var isSimulated = false
    /// Where the plugin of a leaf runs; nil for the host's process.
    public var isolation: Isolation.Kind?
    /// Why a plugin that could run in the host's process is in a runner; nil if it is not in one, or if its setting
    /// demands one.
    public var promotion: Promotion?
    /// How well the runner's sandbox holds, as the runner found by testing it; nil for a plugin in the host's process. Of a gate that
    /// has failed, that of its last runner.
    public var sandbox: String?
    /// How often the gate has lost its instance with its runner.
    public var crashCount = 0
    /// The instance that takes over when the gate's runner ends; nil if the connector has none.
    public var standby: StandbyReport?
    /// The circuit breaker; nil if the connector has none and its runners have not ended often.
    public var breaker: BreakerReport?
    /// How many instances of the leaf's plugin have received calls so far. A reload that leaves the leaf unchanged does
    /// not change this number.
    public var generation: UInt64 = 0
    /// Whether the current instance is on trial, and the gate may go back to the earlier one.
    public var isOnTrial = false
    /// How many earlier instances still wait for their last calls to end.
    public var drainingCount = 0
    /// Whether a leaf has closed with its host; not in documents.
    package var hostHasClosed = false

    /// ``sandbox`` for display below a heading that names the sandbox; nil in the host's process.
    package var sandboxText: String? {
        sandbox.map { $0.hasPrefix("sandbox: ") ? String($0.dropFirst("sandbox: ".count)) : $0 }
    }

    /// How much of a runner's sandbox holds.
    package enum Confinement: Sendable {
        /// Every layer holds: nothing that the runner tried was possible.
        case whole
        /// Some layers hold: the text says what is missing.
        case partial
        /// Nothing is refused.
        case none
    }

    /// How much of the sandbox holds; nil in the host's process.
    package var confinement: Confinement? {
        guard let text = sandboxText else { return nil }
        if ["off", "learning", "none", "no sandbox"].contains(where: text.hasPrefix) { return Confinement.none }
        // The first part lists the layers that hold; the others name what is missing, the bounds that hold, and what
        // was refused.
        let parts = text.split(separator: "; ").dropFirst()
        let isWhole = parts.allSatisfy { part in
            if part.hasPrefix("cpu ") { return part.hasSuffix(" by cgroup") }
            return ["memory ", "refused: ", "refusals "].contains(where: part.hasPrefix)
        }
        return isWhole ? .whole : .partial
    }

    /// The strongest evidence of the last proof.
    public var strongestEvidence: Evidence? { evidence.last }

    /// A plugin and its loaded bytes.
    public struct PluginIdentity: Sendable, Hashable, CustomStringConvertible {
        /// The id, as in `connectors.json`.
        public var id: String
        /// The version in the plugin's manifest.
        public var version: SemanticVersion
        /// Whether the plugin is linked into the application, instead of loaded from an image.
        public var isLinked = false
        /// Whether the plugin, by its manifest, reaches no server: it works on this machine alone.
        package var isLocal = false
        /// The SHA-256 of the loaded bytes, in hexadecimal; nil before loading, and for a linked plugin. Computed on first use.
        public var sha256: String? { reportedDigest ?? content?.sha256 }
        /// The loaded bytes.
        let content: ImageContent?
        /// The digest reported by another process.
        var reportedDigest: String?

        /// The id and the version, such as `settings-file 1.0.0`, followed by `(linked)` for a linked plugin.
        public var description: String { "\(id) \(version)\(isLinked ? " (linked)" : "")" }
    }
}

extension GateReport {
    /// Creates the report of a gate whose target is `open`, for tests of code that reads one. Set the other properties
    /// as needed.
    ///
    /// - Parameter error: Why the gate is not open.
    public init(path: String, state: GateState, error: ConnectorError? = nil) {
        self.init(
            path: path,
            state: state,
            target: .open,
            evidence: [],
            attempts: 1,
            capabilities: [:],
            misbehaviourCount: 0
        )
        isReady = state == .open
        self.error = error
    }
}
