// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices

/// Reads a connector's settings: every member except its name and its children.
extension ConfigurationReader {
    /// The kind of a connector.
    enum ConnectorKind {
        case leaf
        case composite
        /// Another place of a leaf.
        case same
    }

    /// The keys that describe a connector's place below its parent.
    private static let placeKeys = ["name", "required", "enabled", "was"]
    private static let gateKeys = [
        "after", "delivery", "outbox", "breaker", "isolation", "quiet", "runner", "standby", "sandbox",
    ]
    private static let commonKeys = placeKeys + gateKeys + ["same"]
    private static let leafKeys = [
        "plugin", "version", "config", "with", "timeout", "trial", "retry", "heal", "probe", "allow", "http",
        "simulate", "record",
    ]
    private static let compositeKeys = ["policy", "quorum", "canary", "connectors"]
    private static let keys = commonKeys + leafKeys + compositeKeys
    /// The names of members that hold objects, anywhere in a file.
    static let objectNames: Set<String> = [
        "allow", "batch", "breaker", "canary", "config", "heal", "http", "outbox", "retry", "sandbox", "simulate",
        "tls", "trust", "with",
    ]

    /// Determines whether a connector is a leaf or a composite; nil, with an error reported, if it is both or neither.
    mutating func kind(of object: JSONObject, at path: JSONPath) -> ConnectorKind? {
        if object["same"] != nil { return .same }
        switch (object["plugin"], object["connectors"]) {
        case (.some, nil): return .leaf
        case (nil, .some): return .composite
        case (.some, .some):
            json.report(
                .invalidValue,
                "a connector has either a plugin or child connectors, not both",
                fix: "move the plugin into a separate connector below this one",
                at: path.appending("plugin"),
                .name
            )
        case (nil, nil):
            // A misspelt key gets its own error, which also explains why the connector has no kind.
            let isMisspelt = object.members.prefix(100).map(\.name).contains { name in
                !Self.keys.contains(name)
                    && (isMisspelling(name, of: "plugin") || isMisspelling(name, of: "connectors"))
            }
            guard !isMisspelt else { return nil }
            json.report(
                .missingValue,
                "a connector needs a \"plugin\", or \"connectors\" below it",
                at: path
            )
        }
        return nil
    }

    /// Reports unknown keys, and keys of the other kind of connector.
    mutating func checkKeys(of object: JSONObject, _ kind: ConnectorKind?, at path: JSONPath) {
        let foreign: [String] =
            switch kind {
            case .leaf: Self.compositeKeys
            case .composite: Self.leafKeys
            case .same: Self.gateKeys + Self.leafKeys + Self.compositeKeys
            case nil: []
            }
        for name in object.names where !name.hasPrefix("$") {
            if !Self.keys.contains(name) {
                guard json.hasRoom() else { continue }
                json.reportUnknown(
                    name,
                    allowed: Self.keys.filter { !foreign.contains($0) },
                    otherwise: kind == .leaf ? "if it is a setting of the plugin, write it into \"config\"" : nil,
                    at: path
                )
            } else if foreign.contains(name) {
                let (message, fix) = Self.problem(name, kind, object)
                json.report(.unknownKey, message, fix: fix, at: path.appending(name), .name)
            }
        }
    }

    /// The message and the fix for a key that belongs to another kind of connector.
    private static func problem(
        _ name: String,
        _ kind: ConnectorKind?,
        _ object: JSONObject
    ) -> (message: String, fix: String?) {
        switch kind {
        case .same:
            let leaf = object["same"]?.string.map { "\"\($0.excerpt)\"" } ?? "the leaf that \"same\" names"
            return ("\"\(name)\" belongs to \(leaf), of which this is another place", "move it there, or remove it")
        case .leaf: return ("\"\(name)\" is for composites only, and this connector has a plugin", nil)
        case .composite, nil:
            return ("\"\(name)\" is for connectors with a plugin only, and this one has child connectors", nil)
        }
    }

    /// Reads the path that the connector had before it was renamed.
    mutating func was(in object: JSONObject, at path: JSONPath) -> String? {
        guard let text = json.string("was", in: object, at: path) else { return nil }
        guard text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({ isIdentifier(String($0)) })
        else {
            json.report(
                .invalidValue,
                "was is \"\(text.excerpt)\"; it must be the path of a connector, such as analytics/segment",
                at: path.appending("was")
            )
            return nil
        }
        return text
    }

    /// Reads which connectors the plugin uses, by the names in its manifest, and which uses stay unbound.
    mutating func bindings(in object: JSONObject, at path: JSONPath) -> (with: [String: String], unbound: Set<String>) {
        guard object["with"] != nil else { return ([:], []) }
        let here = path.appending("with")
        var bindings: [String: String] = [:]
        var unbound: Set<String> = []
        for member in json.object("with", in: object, at: path)?.members ?? [] where !member.name.hasPrefix("$") {
            if let name = member.value.string {
                bindings[member.name] = name
            } else if member.value == .null {
                unbound.insert(member.name)
            } else if json.hasRoom() {
                let place = here.appending(member.name)
                json.report(
                    .wrongType,
                    "\(json.name(of: place)) must be the path of a connector, not \(member.value.kind)",
                    at: place
                )
            }
        }
        return (bindings, unbound)
    }

    /// Reads the policy and its settings.
    mutating func policy(in object: JSONObject, at path: JSONPath, of children: [Connector]) -> CompositePolicy {
        let here = path.appending("policy")
        let name = json.string("policy", in: object, at: path) ?? "all"
        let policy = CompositePolicy(name: name)
        if policy == nil {
            json.report(
                .invalidValue,
                "unknown policy \"\(name.excerpt)\"",
                fix: suggestion(for: name, among: CompositePolicy.names),
                at: here
            )
        }
        let canary = canary(in: object, at: path, policy)
        guard object["quorum"] != nil else {
            if case .canary? = policy { return .canary(canary) }
            return policy ?? .all(quorum: nil)
        }
        let maximum = Int64(max(1, children.count { $0.isEnabled }))
        let quorum = json.integer("quorum", in: object, at: path, within: 1...maximum)
        guard case .all? = policy else {
            if let policy {
                json.report(
                    .invalidValue,
                    "the policy \"\(policy)\" has no quorum; only \"all\" does",
                    at: path.appending("quorum"),
                    .name
                )
            }
            return policy ?? .all(quorum: nil)
        }
        return .all(quorum: quorum.map { Int($0) })
    }

    /// Reads the pinned version of the plugin.
    mutating func version(in object: JSONObject, at path: JSONPath) -> SemanticVersion? {
        guard let text = json.string("version", in: object, at: path) else { return nil }
        let version = SemanticVersion(text)
        if version == nil {
            json.report(
                .invalidValue,
                "the version \"\(text.excerpt)\" must be complete, such as 1.2.3",
                at: path.appending("version")
            )
        }
        return version
    }

    /// Reads a duration, which must be greater than zero.
    mutating func duration(_ name: String, in object: JSONObject, at path: JSONPath) -> Duration? {
        let kind = "a duration such as \"250ms\" or \"5s\""
        guard let text = json.value(name, in: object, at: path, kind: kind, { $0.string }) else { return nil }
        guard let duration = Duration(parsing: text), duration > .zero else {
            let expected = Duration.range(violatedBy: text).map { "a duration \($0)" } ?? kind
            json.report(
                .invalidValue,
                "\(json.name(of: path.appending(name))) is \"\(text.excerpt)\"; it must be \(expected)",
                at: path.appending(name)
            )
            return nil
        }
        return duration
    }

    /// Reads the number of attempts to open, and the waits between them.
    mutating func retry(in object: JSONObject, at path: JSONPath) -> RetryPolicy? {
        guard let value = object["retry"] else { return nil }
        let here = path.appending("retry")
        guard let members = json.members(of: value, at: here, allowed: ["attempts", "initial", "max"]) else {
            return nil
        }
        var policy = RetryPolicy()
        if let attempts = json.integer("attempts", in: members, at: here, within: SettingRange.attempts) {
            policy.attempts = Int(attempts)
        }
        (policy.initial, policy.max) = waits(in: members, at: here, unless: (policy.initial, policy.max))
        return policy
    }

    /// Reads how a failed gate is retried.
    mutating func heal(in object: JSONObject, at path: JSONPath) -> HealPolicy? {
        let policy = HealPolicy()
        guard let value = object["heal"] else { return policy }
        guard value.string != "off" else { return nil }
        let here = path.appending("heal")
        guard case .object = value else {
            json.report(
                value.string == nil ? .wrongType : .invalidValue,
                "heal must be \"off\" or an object, not \(value.string.map { "\"\($0.excerpt)\"" } ?? value.kind)",
                fix: "write {\"initial\": \"1s\", \"max\": \"60s\"}, or \"off\"",
                at: here
            )
            return policy
        }
        guard let members = json.members(of: value, at: here, allowed: ["initial", "max"]) else { return policy }
        let (initial, longest) = waits(in: members, at: here, unless: (policy.initial, policy.max))
        return HealPolicy(initial: initial, max: longest)
    }

    /// Reads the initial and the maximum wait. An omitted one has its default, adjusted to the other if necessary.
    mutating func waits(
        in members: JSONObject,
        at path: JSONPath,
        unless defaults: (initial: Duration, max: Duration)
    ) -> (initial: Duration, max: Duration) {
        let initial = duration("initial", in: members, at: path)
        let longest = duration("max", in: members, at: path)
        if let initial, let longest { json.check(initial, upTo: longest, at: path.appending("max")) }
        let first = initial ?? min(defaults.initial, longest ?? defaults.initial)
        return (first, longest ?? max(defaults.max, first))
    }

    /// Reads how often an open gate is probed.
    mutating func probeInterval(in object: JSONObject, at path: JSONPath) -> Duration? {
        guard object["probe"]?.string != "off" else { return nil }
        guard let text = json.value("probe", in: object, at: path, kind: "a duration or \"off\"", { $0.string }) else {
            return Connector.defaultProbeInterval
        }
        guard let duration = Duration(parsing: text), duration > .zero else {
            let expected = Duration.range(violatedBy: text) ?? "such as \"30s\""
            json.report(
                .invalidValue,
                "probe is \"\(text.excerpt)\"; it must be a duration \(expected), or \"off\"",
                at: path.appending("probe")
            )
            return Connector.defaultProbeInterval
        }
        return duration
    }

    /// Reads whether the plugin's requests carry their trace context, and how many bytes of responses are kept.
    mutating func http(in object: JSONObject, at path: JSONPath) -> (propagatesTrace: Bool, cacheBytes: Int) {
        guard let value = object["http"] else { return (false, 0) }
        let here = path.appending("http")
        guard let members = json.members(of: value, at: here, allowed: ["propagateTrace", "cacheBytes"]) else {
            return (false, 0)
        }
        let cacheBytes = json.integer("cacheBytes", in: members, at: here, within: SettingRange.cacheBytes)
        return (json.bool("propagateTrace", in: members, at: here) ?? false, Int(cacheBytes ?? 0))
    }

    /// Reads where plugins run; the object inherits the settings that it leaves out.
    mutating func isolation(in object: JSONObject, at path: JSONPath, below parent: Isolation) -> Isolation {
        var isolation = parent
        let kinds = "\"process\", \"auto\" or \"none\""
        if let text = json.value("isolation", in: object, at: path, kind: kinds, { $0.string }) {
            if let kind = Isolation.Kind(rawValue: text) {
                isolation.kind = kind
            } else {
                json.report(
                    .invalidValue,
                    "isolation must be \(kinds), not \"\(text.excerpt)\"",
                    at: path.appending("isolation")
                )
            }
        }
        if let name = json.string("runner", in: object, at: path) {
            json.check(runner: name, at: path.appending("runner"))
            isolation.runner = name
        }
        if let standby = json.bool("standby", in: object, at: path) {
            isolation.standby = standby
            json.checkStandby(of: isolation, at: path.appending("standby"))
        }
        // An inherited standby ends where plugins run in the host.
        if isolation.kind != .process { isolation.standby = false }
        isolation.quiet = duration("quiet", in: object, at: path) ?? parent.quiet
        isolation.sandbox = sandbox(in: object, at: path, below: parent.sandbox)
        return isolation
    }

    /// Reads what replaces the vendor in a simulation.
    mutating func simulator(in object: JSONObject, at path: JSONPath, base: BaseDirectory) -> SimulatorReference? {
        guard object["simulate"] != nil else { return nil }
        let here = path.appending("simulate")
        // The texts of answers refer to the values of a call, not to variables.
        if let value = object["simulate"], value.object != nil {
            return .inlineAnswers(InlineAnswers(value, at: here, in: json.texts))
        }
        let kind = "a string, or an object with answers"
        guard let text = json.value("simulate", in: object, at: path, kind: kind, { $0.string }),
            let filled = filled(text, at: here)
        else { return nil }
        let reference = SimulatorReference(filled, base: base)
        if reference == nil {
            json.report(
                .invalidValue,
                "simulate is \"\(filled.excerpt)\"; it must be a server on this machine, a file of answers, or \"local\"",
                fix:
                    "write \"http://127.0.0.1:PORT\", the path of a file, or \"local\" for a plugin that makes no requests",
                at: here
            )
        }
        return reference
    }

    /// Reads the path of the file in which the gate and its vendor are recorded.
    mutating func recording(in object: JSONObject, at path: JSONPath, base: BaseDirectory) -> RecordingTarget? {
        guard object["record"] != nil else { return nil }
        let here = path.appending("record")
        guard let text = json.value("record", in: object, at: path, kind: "a string", { $0.string }),
            let filled = filled(text, at: here)
        else { return nil }
        guard filled.canBePath else {
            json.report(
                .invalidValue,
                "record is \"\(filled.excerpt)\"; it must be the path of a file",
                fix: "write a path such as \"Recordings/segment.json\"",
                at: here
            )
            return nil
        }
        return RecordingTarget(base.resolve(filled))
    }

    /// Reads the hosts that the operator allows.
    mutating func allowedHosts(in object: JSONObject, at path: JSONPath) -> [HostRule]? {
        guard let value = object["allow"] else { return nil }
        let here = path.appending("allow")
        guard let members = json.members(of: value, at: here, allowed: ["hosts"]), members["hosts"] != nil else {
            return nil
        }
        let texts = json.value("hosts", in: members, at: here, kind: "an array of strings", { $0.array }) ?? []
        var rules: [HostRule] = []
        for (index, element) in texts.enumerated() {
            let location = here.appending("hosts").appending(index)
            guard let text = element.string else {
                guard json.hasRoom() else { continue }
                json.report(
                    .wrongType,
                    "\(json.name(of: location)) must be a string, not \(element.kind)",
                    at: location
                )
                continue
            }
            guard let rule = HostRule(text) else {
                guard json.hasRoom() else { continue }
                json.report(
                    .invalidValue,
                    "\"\(text.excerpt)\" is not a host",
                    fix: "write a name such as \"api.example.com\", \"*.example.com\" or \"example.com:8080\"",
                    at: location
                )
                continue
            }
            rules.append(rule)
        }
        return rules
    }
}
