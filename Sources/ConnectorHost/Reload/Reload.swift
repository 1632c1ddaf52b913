// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorConfiguration

/// How a reload ended: with another configuration, or without any change, and why.
///
/// ```swift
/// let reload = await host.reload()
/// try reload.requireActive()
/// ```
public struct Reload: Sendable {
    /// The version of the format of ``json``.
    public static let version: Int64 = 1

    /// The SHA-256 of the configuration that is active now, in hexadecimal.
    public var digest: String
    /// The phase in which the reload ended without a change; nil if the requested configuration is active. It is `open`
    /// for a swap whose image no connector uses in the end, even if other connectors took up changes of the file.
    public var phase: Phase?
    /// Why the reload ended without a change or, if it did not, why some connectors stayed as they were.
    public var errors: [ConnectorError] = []
    /// What has changed, or would have; nil if the configuration could not be read. After a `conflict` with an earlier
    /// plan, it is the current plan, which can be applied instead.
    public var plan: Plan?
    /// The connectors that stayed as they were, because their successors failed.
    public var rolledBack: [String] = []
    /// The connectors whose earlier instances still had calls to finish when the reload returned.
    public var draining: [String] = []

    /// A part of a reload. Each has a deadline.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The files, variables, secrets and manifests are read and checked.
        case read
        /// The configuration is compared with the one that runs.
        case plan
        /// New images are checked and loaded.
        case load
        /// New gates, and the successors of those that change, open.
        case open
        /// Calls are directed to the successors, and the next tree is published.
        case `switch`
        /// The last calls of earlier instances end.
        case drain
    }

    /// Whether the requested configuration is active.
    public var isActive: Bool { phase == nil }

    /// Throws the first error if the configuration is not active.
    public func requireActive() throws(ConnectorError) {
        guard let phase else { return }
        throw errors.first ?? ConnectorError(.failed, "the reload ended in the phase \(phase.rawValue)")
    }

    /// The document that `connector-host reload --json` prints.
    public var json: JSONValue {
        var object: JSONObject = [
            "version": .integer(Self.version), "active": .bool(isActive), "sha256": .string(digest),
        ]
        object["phase"] = phase.map { .string($0.rawValue) }
        if !errors.isEmpty { object["errors"] = .array(errors.map(\.json)) }
        if !rolledBack.isEmpty { object["rolledBack"] = .array(rolledBack.map(JSONValue.string)) }
        if !draining.isEmpty { object["draining"] = .array(draining.map(JSONValue.string)) }
        object["plan"] = plan.map(\.json)
        return .object(object)
    }

    /// Reads the document; nil if it is not one of this version.
    public init?(json: JSONValue) {
        guard json["version"]?.integer == Self.version, let digest = json["sha256"]?.string else { return nil }
        self.init(digest: digest)
        phase = json["phase"]?.string.flatMap(Phase.init(rawValue:))
        errors = json["errors"]?.array?.compactMap(ConnectorError.init(json:)) ?? []
        rolledBack = json["rolledBack"]?.array?.compactMap(\.string) ?? []
        draining = json["draining"]?.array?.compactMap(\.string) ?? []
        plan = json["plan"].flatMap(Plan.init(json:))
    }

    /// Describes a reload that ended without errors; callers set the other properties.
    init(digest: String) {
        self.digest = digest
    }
}

extension Reload: CustomStringConvertible {
    /// Whether the configuration is active, and the errors: `ended in the phase read: …`.
    public var description: String {
        let end = phase.map { "ended in the phase \($0.rawValue)" } ?? "active"
        return errors.isEmpty ? end : "\(end): \(errors.map(\.description).joined(separator: "; "))"
    }
}
