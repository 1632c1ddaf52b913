// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorServices

/// Everything a gate needs to open: its leaf in the file, checked against the plugin's manifest.
@dynamicMemberLookup
struct GatePlan: Sendable {
    /// Reads the configuration again with current secrets.
    var renewed: @Sendable (Renewal) -> RenewedSecrets<InstanceConfiguration>
    private var members: Shared<Members>

    /// Creates a plan.
    init(
        _ members: Members,
        renewed: @escaping @Sendable (Renewal) -> RenewedSecrets<InstanceConfiguration> = { _ in RenewedSecrets() }
    ) {
        (self.members, self.renewed) = (Shared(members), renewed)
    }

    subscript<Member>(dynamicMember member: KeyPath<Members, Member>) -> Member { members.value[keyPath: member] }

    /// The members of a plan, which its copies share.
    struct Members: Sendable {
        /// The gate's path in the tree.
        var path: String
        /// The image to load, or why there is none or why it cannot be used as configured.
        var plugin: Result<PluginCandidate, ConnectorError>
        /// The plugin's manifest, even if the plugin cannot be used as configured; nil if no plugin was found.
        var manifest: Manifest?
        /// Decides by the configuration's lock and keys whether the image may be loaded.
        var admission = PluginAdmission()
        /// Whether the application links the plugin.
        var isLinked = false
        /// The leaf that the plan was made from; nil if no configuration describes it.
        var leaf: Result<ResolvedLeaf, ConnectorError>?
        /// The connector that the plan was made from; nil if no configuration describes it.
        var connector: Connector?
        /// The plugin's configuration and secrets.
        var configuration: InstanceConfiguration
        /// Whether a secret has several sources; if the vendor refuses one, the next is tried.
        var hasAlternatives = false
        /// Why a preferred source of the secrets was passed over; nil if none was.
        var fault: SecretFault?
        /// Whether secrets come from files, which may be replaced at any time.
        var readsFiles = false
        /// The connectors that the plugin uses.
        var uses: [BoundUse] = []
        /// The timeout of one attempt to open, of one proof, and of closing.
        var timeout: Duration
        /// How long a successor is on trial; nil for no trial.
        var trial: Duration?
        /// How many attempts opening makes before the gate fails.
        var retry: RetryPolicy
        /// How a failed gate is retried; nil for never.
        var heal: HealPolicy?
        /// When the circuit breaker refuses calls because they keep failing; nil for never.
        var breaker: BreakerPolicy?
        /// How often an open gate is proved; nil for never.
        var probeInterval: Duration?
        /// Whether the plugin's requests propagate their trace.
        var propagatesTrace = false
        /// The maximum size of the cached HTTP responses, in bytes; 0 for no cache.
        var cacheBytes = 0
        /// Where the gate and its vendor are recorded; nil if they are not.
        var recording: RecordingTarget?
        /// What takes the place of the vendor; nil if nothing does.
        var vendor: SimulatedVendor?
        /// Where the plugin runs.
        var isolation = Isolation()
        /// Problems with the plugin that do not prevent the gate from opening.
        var warnings: [String] = []
        /// What is simulated, the vendor or the plugin; nil if neither is.
        var simulated: ResolvedLeaf.Simulated?

        /// Whether the vendor or the plugin is simulated.
        var isSimulated: Bool { simulated != nil }

        /// Whether a stand-in, linked like an application's own plugins, takes the place of the plugin.
        var hasStandIn: Bool { simulated == .plugin }

        /// Whether the gate keeps a standby, which takes over when the instance's runner ends.
        var hasStandby: Bool { isolation.standby && !hasStandIn }
    }
}

extension GatePlan {
    /// Whether the plugin runs in a runner, because its setting says so or because the last instance did.
    func runsRemotely(_ last: (isRemote: Bool, promotion: Promotion?)) -> Bool {
        guard !self.hasStandIn else { return false }
        return self.isolation.kind == .process || last.isRemote
    }

    /// The plan of a leaf that no configuration describes: it never opens.
    static func missing(_ connector: Connector) -> GatePlan {
        let error = ConnectorError(.failed, "the leaf has no resolved configuration", connector: connector.path)
        return GatePlan(
            Members(
                path: connector.path,
                plugin: .failure(error),
                configuration: InstanceConfiguration(nil),
                timeout: Connector.defaultTimeout,
                retry: .none
            )
        )
    }

    /// The plan without the function that reads its secrets again, because that keeps the whole configuration in
    /// memory.
    var withoutRenewal: GatePlan {
        var plan = self
        plan.renewed = { _ in RenewedSecrets() }
        return plan
    }

    /// The plan with other secrets.
    func with(_ configuration: InstanceConfiguration) -> GatePlan {
        var plan = self
        plan.members.value.configuration = configuration
        return plan
    }

    /// Whether an instance under another plan would be the same. Whatever only the gate uses may differ.
    func opensLike(_ other: GatePlan) -> Bool {
        members.isCopy(of: other.members)
            || self.configuration == other.configuration && self.uses == other.uses
                && self.propagatesTrace == other.propagatesTrace && self.cacheBytes == other.cacheBytes
                && self.recording == other.recording && self.vendor == other.vendor
                && self.isSimulated == other.isSimulated && isOfSamePlugin(as: other)
                && self.isolation.placesLike(other.isolation)
    }

    /// Whether another plan loads the same file in the same state, or links the same plugin.
    func isOfSamePlugin(as other: GatePlan) -> Bool {
        switch (self.plugin, other.plugin) {
        case (.success(let one), .success(let two)):
            if case .linked(let one) = one.image { if case .linked(let two) = two.image { return one == two } }
            return one.path == two.path && one.stamp == two.stamp && one.manifest == two.manifest
        case (.failure(let one), .failure(let two)): return one.description == two.description
        default: return false
        }
    }

    /// Whether an instance under another plan cannot be open beside one under this plan.
    func excludes(_ other: GatePlan) -> Bool {
        guard let one = self.manifest, let two = other.manifest, one.id == two.id else { return false }
        return one.isExclusive || two.isExclusive
    }

    /// A plugin's configuration, secrets and reachable hosts.
    struct InstanceConfiguration: Sendable, Equatable {
        /// The object that the plugin's `create` receives.
        var config: JSONObject
        /// The values of `{{secret:NAME}}`.
        var secrets: [String: Secret]
        /// The hosts that the plugin may reach over HTTP.
        var egress: [HostRule]
        /// Where the secrets come from, and since when; ignored when two configurations are compared.
        var origins: [String: SecretOrigin]

        /// Reads the configuration of a resolved leaf; empty for nil.
        init(_ plan: ResolvedLeaf?) {
            config = plan?.config ?? JSONObject()
            secrets = plan?.secrets ?? [:]
            egress = plan?.egress ?? []
            origins = plan?.origins ?? [:]
        }

        /// The object as UTF-8 JSON.
        var json: [UInt8] { JSONValue.object(config).utf8() }

        static func == (first: Self, second: Self) -> Bool {
            first.config == second.config && first.secrets == second.secrets && first.egress == second.egress
        }
    }
}

extension RetryPolicy {
    /// A single attempt.
    static let none = RetryPolicy(attempts: 1)

    /// The longest wait after an attempt: the initial one, doubled each time, up to the maximum.
    func bound(afterAttempt attempt: Int) -> Duration {
        Backoff(initial: initial, maximum: max).bound(after: attempt)
    }
}

extension Isolation {
    /// Whether an instance would run in the same place. The setting `standby` does not count: a standby is another
    /// instance.
    fileprivate func placesLike(_ other: Isolation) -> Bool {
        var (one, two) = (self, other)
        (one.standby, two.standby) = (false, false)
        return one == two
    }
}
