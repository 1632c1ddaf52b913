// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorServices

/// Reads the document of a report that another process wrote.
extension Report {
    /// Reads the document; nil if it is not one of this version.
    package init?(json: JSONValue) {
        guard json["version"]?.integer == Self.version, let state = json.state("state"),
            let elements = json["gates"]?.array
        else { return nil }
        let gates = elements.compactMap(GateReport.init(json:))
        guard gates.count == elements.count else { return nil }
        self.init(gates: gates, state: state)
        outboxError = json["outbox"]?["error"].flatMap(ConnectorError.init(json:))
        configuration = json["configuration"].flatMap(ConfigurationReport.init(json:))
        images = json["images"].flatMap(ImagesReport.init(json:))
        runners = json["runners"]?.array?.compactMap(RunnerReport.init(json:)) ?? []
    }
}

extension GateReport {
    /// Reads a connector's part; nil if a mandatory member is missing.
    fileprivate init?(json: JSONValue) {
        guard let path = json["path"]?.string, let state = json.state("state"), let target = json.state("target") else {
            return nil
        }
        self.init(
            path: path,
            places: json["places"]?.array?.compactMap(\.string) ?? [],
            state: state,
            target: target,
            isRequired: json["required"]?.bool ?? true,
            isReady: json["ready"]?.bool ?? false,
            policy: json["policy"]?.string,
            quorum: json.count("quorum"),
            plugin: json["plugin"].flatMap(PluginIdentity.init(json:)),
            evidence: json["evidence"]?.array?.compactMap(Evidence.init(json:)) ?? [],
            openDuration: json.milliseconds("openMilliseconds"),
            attempts: json.count("attempts") ?? 0,
            nextAttemptAt: json.time("nextAttemptAt"),
            error: json["error"].flatMap(ConnectorError.init(json:)),
            capabilities: json["capabilities"]?.object?.members.reduce(into: [:]) { names, member in
                names[member.name] = member.value.array?.compactMap(\.string) ?? []
            } ?? [:],
            http: json["http"].map(HTTPCounters.init(json:)),
            misbehaviourCount: json.count("misbehaviours") ?? 0,
            differences: json["differences"].map(Differences.init(json:)),
            canary: json["canary"].map(CanaryReport.init(json:)),
            outbox: json["outbox"].map(OutboxReport.init(json:)),
            calls: json["calls"].map(CallCounters.init(json:)),
            warnings: json["warnings"]?.array?.compactMap(\.string) ?? [],
            uses: json["uses"]?.object?.members.reduce(into: [:]) { $0[$1.name] = $1.value.string } ?? [:],
            secrets: json["secrets"]?.array?.compactMap(SecretReport.init(json:)) ?? [],
            isSimulated: json["simulated"]?.bool ?? false,
            isolation: json["isolation"]?.string.flatMap(Isolation.Kind.init(rawValue:)),
            promotion: json["promotion"].flatMap(Promotion.init(json:)),
            sandbox: json["sandbox"]?.string,
            crashCount: json.count("crashes") ?? 0,
            standby: json["standby"].flatMap(StandbyReport.init(json:)),
            breaker: json["breaker"].flatMap(BreakerReport.init(json:)),
            generation: UInt64(clamping: json.count("generation") ?? 0),
            isOnTrial: json["trial"]?.bool ?? false,
            drainingCount: json.count("draining") ?? 0
        )
    }
}

extension GateReport.PluginIdentity {
    fileprivate init?(json: JSONValue) {
        guard let id = json["id"]?.string, let version = json["version"]?.string.flatMap(SemanticVersion.init(_:))
        else {
            return nil
        }
        self.init(
            id: id,
            version: version,
            isLinked: json["linked"]?.bool ?? false,
            isLocal: json["local"]?.bool ?? false,
            content: nil,
            reportedDigest: json["sha256"]?.string
        )
    }
}

extension Evidence {
    fileprivate init?(json: JSONValue) {
        guard let kind = json["kind"]?.string.flatMap(Kind.init(rawValue:)), let time = json.time("at") else {
            return nil
        }
        self.init(
            kind: kind,
            detail: json["detail"]?.string ?? "",
            at: time,
            duration: json.milliseconds("milliseconds") ?? .zero
        )
    }
}

extension HTTPCounters {
    fileprivate init(json: JSONValue) {
        self.init()
        requests = UInt64(clamping: json.count("requests") ?? 0)
        failures = UInt64(clamping: json.count("failures") ?? 0)
        cached = UInt64(clamping: json.count("cached") ?? 0)
        bytesSent = UInt64(clamping: json.count("bytesSent") ?? 0)
        bytesReceived = UInt64(clamping: json.count("bytesReceived") ?? 0)
        lastStatus = json.count("lastStatus").map { UInt32(clamping: $0) }
    }
}

extension Differences {
    fileprivate init(json: JSONValue) {
        self.init(
            compared: json.count("compared") ?? 0,
            different: json.count("different") ?? 0,
            skipped: json.count("skipped") ?? 0,
            last: json["last"]?.string
        )
    }
}

extension CanaryReport {
    fileprivate init(json: JSONValue) {
        self.init(
            share: json["share"]?.number ?? 0,
            withdrawal: json["withdrawal"]?.string,
            first: Child(json: json["first"] ?? .null),
            second: Child(json: json["second"] ?? .null)
        )
    }
}

extension CanaryReport.Child {
    fileprivate init(json: JSONValue) {
        self.init(
            path: json["path"]?.string ?? "",
            calls: json.count("calls") ?? 0,
            failures: json.count("failures") ?? 0,
            mean: json.milliseconds("meanMilliseconds")
        )
    }
}

extension CallCounters {
    fileprivate init(json: JSONValue) {
        self.init(
            total: UInt64(clamping: json.count("total") ?? 0),
            failures: UInt64(clamping: json.count("failures") ?? 0),
            lastFailure: json["lastFailure"].flatMap(ConnectorError.init(json:))
        )
    }
}

extension OutboxReport {
    fileprivate init(json: JSONValue) {
        let code = json["code"]?.string
        self.init(
            queued: json.count("queued") ?? 0,
            bytes: json.count("bytes") ?? 0,
            oldest: json.time("oldest"),
            dead: json.count("dead") ?? 0,
            delivered: json.count("delivered") ?? 0,
            dropped: json.count("dropped") ?? 0,
            lastDelivered: json.time("lastDelivered"),
            perSecond: json["perSecond"]?.number ?? 0,
            stability: json["stability"]?.string,
            failure: json["failure"]?.string,
            code: code.map { ConnectorError.Code(rawValue: $0) },
            nextAttemptAt: json.time("nextAttemptAt")
        )
    }
}

extension ConnectorError {
    /// Reads the document of an error; nil without a code and a message.
    package init?(json: JSONValue) {
        guard let code = json["code"]?.string, let message = json["message"]?.string else { return nil }
        let position = json["file"]?.string.map { file in
            FilePosition(file: file, line: json.count("line") ?? 1, column: json.count("column") ?? 1)
        }
        self.init(
            Code(rawValue: code),
            message,
            fix: json["fix"]?.string,
            connector: json["connector"]?.string,
            position: position,
            cause: json["cause"]?.string,
            isRetryable: json["retryable"]?.bool ?? false,
            retryAfter: json.count("retryAfterMilliseconds").map { .milliseconds($0) }
        )
        sending = json["sent"]?.string.map(Sending.init(rawValue:))
        outcomes =
            json["outcomes"]?.array?.compactMap { outcome in
                outcome["path"]?.string.map {
                    CallOutcome($0, error: outcome["error"].flatMap(ConnectorError.init(json:)))
                }
            } ?? []
    }
}

extension JSONValue {
    fileprivate func state(_ name: String) -> GateState? { self[name]?.string.flatMap(GateState.init(rawValue:)) }

    /// A count; nil if missing.
    func count(_ name: String) -> Int? { self[name]?.integer.map { Int(clamping: $0) } }

    fileprivate func time(_ name: String) -> Timestamp? { self[name]?.string.flatMap(Timestamp.init(parsing:)) }

    fileprivate func milliseconds(_ name: String) -> Duration? {
        guard let number = self[name]?.number, number >= 0, number < 1e12 else { return nil }
        return .microseconds(Int64((number * 1e3).rounded()))
    }
}
