// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorServices

/// Everything required to open one leaf.
package struct ResolvedLeaf: Sendable {
    /// The plugin that the leaf names.
    package var specification: PluginSpecification { members.value.specification }
    /// The manifest of that plugin.
    package var manifest: Manifest { members.value.manifest }
    /// Every field with a value, including defaults, in the manifest's order; the value of a secret field is `{{secret:FIELD}}`.
    package var config: JSONObject { members.value.config }
    /// The values of the secret fields.
    package var secrets: [String: Secret] { members.value.secrets }
    /// Where the values of the secret fields come from, except those that are in the file itself.
    package var origins: [String: SecretOrigin] { members.value.origins }
    /// Whether a secret has several sources, of which the next is tried if the vendor refuses one.
    package var hasAlternatives: Bool { members.value.hasAlternatives }
    /// Whether secrets come from files, which may be replaced at any time.
    package var readsFiles: Bool { members.value.readsFiles }
    /// The hosts that the plugin may reach.
    package var egress: [HostRule] { members.value.egress }
    /// The connectors that the plugin uses, in the manifest's order.
    package var uses: [BoundUse] { members.value.uses }
    /// What replaces the vendor in a simulation, as configured.
    package var simulator: SimulatorReference? { members.value.simulator }
    /// The secret fields with a placeholder, because their secrets are missing and the vendor is simulated.
    package var placeholders: [String] { members.value.placeholders }
    /// What is probably a mistake in the fields, although they are valid.
    package var warnings: [String] { members.value.warnings }
    /// Why a source that is there was passed over, in favor of a later one in the list; nil if none was.
    package var fault: SecretFault? { members.value.fault }
    /// The part of the gate that is simulated; nil if none is.
    package var simulated: Simulated? { members.value.simulated }
    /// What answers in place of the vendor; nil if nothing does.
    package var vendor: SimulatedVendor? { members.value.vendor }
    /// The fields whose URLs point to a simulator instead of the server named in the file.
    var movedFields: Set<String> { members.value.movedFields }

    /// The members of a resolved leaf, which its copies share.
    struct Members: Sendable {
        var specification: PluginSpecification
        var manifest: Manifest
        var config: JSONObject
        var secrets: [String: Secret]
        var origins: [String: SecretOrigin]
        var hasAlternatives = false
        var readsFiles = false
        var egress: [HostRule]
        var uses: [BoundUse] = []
        var simulator: SimulatorReference?
        var placeholders: [String] = []
        var warnings: [String] = []
        var fault: SecretFault?
        var simulated: Simulated?
        var vendor: SimulatedVendor?
        var movedFields: Set<String> = []
        /// The connector that it was made from, if that and the manifest are all that it was made from.
        var source: Connector?
    }

    var members: Shared<Members>

    /// Creates a resolved leaf.
    init(_ members: Members) { self.members = Shared(members) }

    /// A part of a gate that can be simulated.
    package enum Simulated: Sendable {
        case vendor
        case plugin
    }

    /// Replaces the secrets with those that were read last.
    package mutating func use(_ secrets: [String: Secret]) { members.value.secrets = secrets }

    /// The placeholder for a secret that is missing in a simulation.
    static let missingSecret = "simulated-secret"

    /// The placeholder for a secret field's value in a plugin's configuration and requests.
    package static func placeholder(for field: String) -> String { "{{secret:\(field)}}" }
}
