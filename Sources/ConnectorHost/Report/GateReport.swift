// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorLoading
public import ConnectorManifest
public import ConnectorServices

/// What is known of one connector at one moment.
public struct GateReport: Sendable {
    /// Its place in the tree, such as `analytics/segment`.
    public var path: String
    /// How it stands.
    public var state: GateState
    /// What it is meant to be: `open` or `closed`.
    public var target: GateState
    /// Whether the application cannot do without it: it and everything above it is required.
    public var isRequired = true
    /// Whether it can be counted on: a leaf that is open, a composite with as many such children as its policy needs.
    public var isReady = false
    /// How a composite treats its children; nil for a leaf.
    public var policy: String?
    /// How many children a composite of the policy `all` needs; nil if that is every required one.
    public var quorum: Int?
    /// The plugin of a leaf; nil for a composite, and where none could be found.
    public var plugin: PluginIdentity?
    /// What was proved, weakest first.
    public var evidence: [Evidence]
    /// How long the last opening took, from the first attempt to its end.
    public var openDuration: Duration?
    /// How many attempts the last opening took.
    public var attempts: Int
    /// When a gate that has failed is tried again; nil if no attempt is to come.
    public var nextAttemptAt: Timestamp?
    /// Why it is not open, or why the last proof failed.
    public var error: ConnectorError?
    /// The operations it has, by capability, such as `["geocoder/1": ["geocode"]]`.
    public var capabilities: [String: [String]]
    /// What went over HTTP; nil before the first request.
    public var http: HTTPCounters?
    /// How often the plugin broke a rule of the ABI.
    public var misbehaviourCount: Int
    /// How often the children of a composite of the policy `compare` disagreed; nil for any other.
    public var differences: Differences?
    /// How many calls went to it by name, and how many failed; nil before the first.
    public var calls: CallCounters?

    /// The strongest evidence there is.
    public var strongestEvidence: Evidence? { evidence.last }

    /// Which plugin, and exactly which bytes of it.
    public struct PluginIdentity: Sendable, Hashable {
        /// As in `connectors.json`.
        public var id: String
        /// From its manifest.
        public var version: SemanticVersion
        /// Of the loaded bytes, in hexadecimal; nil before it was loaded. Made when it is first asked for.
        public var sha256: String? { content?.sha256 }
        /// The bytes that are loaded.
        let content: ImageContent?
    }
}
