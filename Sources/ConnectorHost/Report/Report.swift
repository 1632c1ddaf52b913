// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorServices

/// Every connector at one moment.
public struct Report: Sendable {
    /// The version of the format of ``json``.
    public static let version: Int64 = 1

    /// Every enabled connector, parents before their children, in the order of the file.
    public var gates: [GateReport]

    /// The state of the whole, as if the file were one composite of the policy `all`.
    public var state: GateState

    /// Why events cannot be stored at the moment; nil if they can, or the configuration has no outbox.
    public var outboxError: ConnectorError?

    /// Which configuration runs, and whether its file says something else; nil in a report from an older host.
    public var configuration: ConfigurationReport?

    /// The images that the host's process has loaded; nil if there are none, and in a report from an older host.
    public var images: ImagesReport?

    /// The processes of isolated plugins; empty if there are none, and in a report from an older host.
    public var runners: [RunnerReport] = []

    /// Creates a report, for example in tests of code that reads one.
    public init(gates: [GateReport], state: GateState, outboxError: ConnectorError? = nil) {
        self.gates = gates
        self.state = state
        self.outboxError = outboxError
    }

    /// Whether every required connector is ready, and events can be stored; this decides the exit status of
    /// `connector-host status`.
    ///
    /// Below `first`, `fastest` and a quorum only the composite is required: one child may be down while another takes
    /// over.
    public var isReady: Bool { outboxError == nil && gates.allSatisfy { !$0.isRequired || $0.isReady } }

    /// The connector of a path.
    public subscript(path: String) -> GateReport? {
        gates.first { $0.path == path } ?? gates.first { $0.places.contains(path) }
    }

    /// Throws the error of the first required connector that is not ready, or the outbox's.
    ///
    /// - Throws: A leaf's error. If a composite is not ready and no single leaf is the cause: `not-open`, with the
    ///   errors of the connectors below it as the cause. Of a host that has closed: `not-open`.
    public func requireReady() throws(ConnectorError) {
        let missing = gates.filter { $0.isRequired && !$0.isReady }
        // A composite is the culprit only if no required connector below it is.
        let culprit = missing.first { gate in !missing.contains { $0.isBelow(gate.path) } }
        guard let culprit else {
            if let outboxError { throw outboxError }
            return
        }
        if gates.contains(where: \.hostHasClosed) { throw .hostClosed }
        var error = culprit.error ?? notOpen(culprit)
        error.connector = error.connector ?? culprit.path
        throw error
    }

    /// What to do about a gate that has not been opened.
    static let openFirst = "open the host first"

    private func notOpen(_ gate: GateReport) -> ConnectorError {
        let fix = gate.target == .closed ? Self.openFirst : nil
        guard gate.policy != nil else { return ConnectorError(.notOpen, "a required gate is not open", fix: fix) }
        let below = gates.filter { $0.isBelow(gate.path) }
        let children = below.filter { $0.isBelow(gate.path, directly: true) }
        let errors = below.compactMap(\.error)
        return ConnectorError(
            .notOpen,
            "\(children.count(where: \.isReady)) of \(children.count) children are open, \(gate.quorum ?? 1) must be",
            fix: fix,
            cause: errors.isEmpty ? nil : errors.map(\.description).joined(separator: "; "),
            isRetryable: errors.contains(where: \.isRetryable)
        )
    }
}

extension Report: CustomStringConvertible {
    /// A line for each connector and one for the whole, for logs. `connector-host status` says more.
    public var description: String {
        let leaves = gates.filter { $0.policy == nil }
        let open = leaves.count { $0.state == .open }
        let whole = "\(isReady ? "ready" : "not ready"): \(open) of \(leaves.count) gates open"
        let lines = gates.map(\.description) + (outboxError.map { ["outbox: \($0)"] } ?? []) + [whole]
        return lines.joined(separator: "\n")
    }
}

extension GateReport: CustomStringConvertible {
    /// One line: the path, the state, the strongest evidence, and the error, such as `shop/search: open, authenticated (200 OK)`.
    public var description: String {
        var text = "\(path): \(state.rawValue)"
        if policy == nil, state.isUsable, let evidence = strongestEvidence {
            text += state == .open ? ", " : ", was "
            text += evidence.kind.rawValue + (evidence.detail.isEmpty ? "" : " (\(evidence.detail))")
        }
        if var error {
            if error.connector == path { error.connector = nil }
            text += "; \(error)"
        }
        return text
    }
}

extension Report {
    /// The document that `connector-host status --json` prints.
    public var json: JSONValue {
        var object: JSONObject = [
            "version": .integer(Self.version),
            "state": .string(state.rawValue),
            "ready": .bool(isReady),
            "gates": .array(gates.map(\.json)),
        ]
        object["outbox"] = outboxError.map { ["ready": false, "error": $0.json] }
        object["configuration"] = configuration.map(\.json)
        object["images"] = images.map(\.json)
        if !runners.isEmpty { object["runners"] = .array(runners.map(\.json)) }
        return .object(object)
    }
}

extension GateReport {
    /// The connector's part of the document, without absent values.
    var json: JSONValue {
        var object = JSONObject()
        object["path"] = .string(path)
        if !places.isEmpty { object["places"] = .array(places.map(JSONValue.string)) }
        object["state"] = .string(state.rawValue)
        object["target"] = .string(target.rawValue)
        object["required"] = .bool(isRequired)
        object["ready"] = .bool(isReady)
        if isSimulated { object["simulated"] = true }
        object["policy"] = policy.map(JSONValue.string)
        object["quorum"] = quorum.map { .integer(Int64($0)) }
        object["plugin"] = plugin.map { plugin in
            var object = JSONObject()
            object["id"] = .string(plugin.id)
            object["version"] = .string(plugin.version.description)
            object["sha256"] = plugin.sha256.map(JSONValue.string)
            if plugin.isLinked { object["linked"] = true }
            if plugin.isLocal { object["local"] = true }
            return .object(object)
        }
        if policy == nil {
            object["evidence"] = .array(evidence.map(\.json))
            object["attempts"] = .integer(Int64(attempts))
            object["nextAttemptAt"] = nextAttemptAt.map { .string($0.description) }
            object["capabilities"] = .object(
                JSONObject(
                    capabilities.sorted { $0.key < $1.key }.map { ($0.key, .array($0.value.map(JSONValue.string))) }
                )
            )
            object["isolation"] = isolation.map { .string($0.rawValue) }
            object["promotion"] = promotion.map(\.json)
            object["sandbox"] = sandbox.map(JSONValue.string)
            object["standby"] = standby.map(\.json)
            object["breaker"] = breaker.map(\.json)
            if crashCount > 0 { object["crashes"] = .integer(Int64(crashCount)) }
            if generation > 0 { object["generation"] = .integer(Int64(clamping: generation)) }
            if isOnTrial { object["trial"] = true }
            if drainingCount > 0 { object["draining"] = .integer(Int64(drainingCount)) }
            if misbehaviourCount > 0 { object["misbehaviours"] = .integer(Int64(misbehaviourCount)) }
            if !secrets.isEmpty { object["secrets"] = .array(secrets.map(\.json)) }
        }
        if !uses.isEmpty {
            object["uses"] = .object(
                JSONObject(uses.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) })
            )
        }
        object["openMilliseconds"] = openDuration.map { .number(Double($0.nanoseconds / 1000) / 1000) }
        object["error"] = error.map(\.json)
        object["http"] = http.map(\.json)
        object["differences"] = differences.map(\.json)
        object["canary"] = canary.map(\.json)
        object["calls"] = calls.map(\.json)
        object["outbox"] = outbox.map(\.json)
        if !warnings.isEmpty { object["warnings"] = .array(warnings.map(JSONValue.string)) }
        return .object(object)
    }
}

extension Report {
    /// The gates that are in several places.
    package var sharedGates: [GateReport] { gates.filter { !$0.places.isEmpty } }
}

extension GateReport {
    /// The connectors that the plugin uses, for readers: `preferences as settings`, or the name alone if it is also the path.
    package var usedConnectors: [String] {
        uses.sorted { $0.key < $1.key }.map { $0 == $1 ? $1 : "\($1) as \($0)" }
    }

    /// For a leaf at or below a connector, its paths outside that connector; empty for any other leaf.
    package func places(outside path: String) -> [String] {
        let all = [self.path] + places
        let outside = all.filter { $0 != path && !$0.hasPrefix(path + "/") }
        return outside.count < all.count ? outside : []
    }

    /// Whether the connector, at any of its places, is below another.
    ///
    /// - Parameter directly: Whether it must be a child.
    func isBelow(_ composite: String, directly: Bool = false) -> Bool {
        ([path] + places).contains { path in
            path.hasPrefix(composite + "/") && !(directly && path.dropFirst(composite.count + 1).contains("/"))
        }
    }
}

extension Evidence {
    /// Times are RFC 3339 in UTC, durations milliseconds.
    var json: JSONValue {
        [
            "kind": .string(kind.rawValue),
            "detail": .string(detail),
            "at": .string(at.description),
            "milliseconds": .number(Double(duration.nanoseconds / 1000) / 1000),
        ]
    }
}

extension HTTPCounters {
    /// The counters' part of the document.
    var json: JSONValue {
        var object = JSONObject()
        object["requests"] = .integer(Int64(clamping: requests))
        object["failures"] = .integer(Int64(clamping: failures))
        object["bytesSent"] = .integer(Int64(clamping: bytesSent))
        object["bytesReceived"] = .integer(Int64(clamping: bytesReceived))
        if cached > 0 { object["cached"] = .integer(Int64(clamping: cached)) }
        object["lastStatus"] = lastStatus.map { .integer(Int64($0)) }
        return .object(object)
    }
}

extension OutboxReport {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "queued": .integer(Int64(queued)),
            "bytes": .integer(Int64(bytes)),
            "dead": .integer(Int64(dead)),
            "delivered": .integer(Int64(delivered)),
            "dropped": .integer(Int64(dropped)),
            "perSecond": .number(perSecond),
        ]
        object.set("stability", stability)
        object.set("oldest", oldest?.description)
        object.set("lastDelivered", lastDelivered?.description)
        object.set("code", code?.rawValue)
        object.set("failure", failure)
        object.set("nextAttemptAt", nextAttemptAt?.description)
        return .object(object)
    }
}
