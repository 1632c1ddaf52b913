// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorServices

/// A host that runs in another process, used through its API.
struct AttachedHost: Sendable {
    /// The identity of the host.
    let identity: HostIdentity
    /// Whether its gates open to simulators.
    let isSimulated: Bool
    let client: ControlClient

    /// Finds the host that runs on a file, even if the file has become invalid since the host read it, is missing, or names
    /// another directory now.
    ///
    /// - Parameter names: The sockets to try, in this order.
    /// - Returns: Nil if no host runs.
    /// - Throws: The error of a host that does not respond.
    static func find(
        _ file: ConfigurationOption,
        on names: [ControlSocket.Name] = [.control]
    ) async throws(ConnectorError) -> AttachedHost? {
        let read = Configuration.examine(file: file.file, environment: .process).configuration
        let directory = (read ?? DamagedFile.configuration(file.file))?.hostDirectory()
        if let directory, let host = try await find(file, on: names, in: directory) { return host }
        return try await findElsewhere(file, on: names, than: directory)
    }

    /// Finds a host that runs on a file with a `name` or `state` that the file had when the host read it, even if the file is missing.
    ///
    /// - Parameter directory: The host's directory according to the file as it is; nil if it has none.
    static func findElsewhere(
        _ file: ConfigurationOption,
        on names: [ControlSocket.Name] = [.control],
        than directory: String?
    ) async throws(ConnectorError) -> AttachedHost? {
        // A host of an earlier version, or one on what the file links to, has its mark there.
        let places = Set([file.file, file.file.realPath])
        let marked = Set(places.flatMap { WorkMark.directories(besides: CrashFile.path(for: $0)) })
        for other in marked.sorted() where other != directory?.absolutePath {
            if let host = try await find(file, on: names, in: other) { return host }
        }
        return nil
    }

    private static func find(
        _ file: ConfigurationOption,
        on names: [ControlSocket.Name],
        in directory: String
    ) async throws(ConnectorError) -> AttachedHost? {
        for name in names {
            let client = ControlClient(directory, name)
            guard let identity = try await client.get("/api/v1/host").flatMap(HostIdentity.init(json:)),
                identity.file == HostIdentity.path(of: file.file)
            else { continue }
            return AttachedHost(identity: identity, isSimulated: name == .simulated, client: client)
        }
        return nil
    }

    /// Calls an operation with arguments from a command line. Cancelling the task cancels the call in the host.
    ///
    /// - Throws: The error of the host or of the operation.
    func call(
        _ path: String,
        _ operation: String,
        words: [String],
        timeout: Duration
    ) async throws(ConnectorError) -> JSONValue {
        let milliseconds = min(max(1, Int64(clamping: timeout.nanoseconds / 1_000_000)), ControlAPI.timeoutLimit)
        let body: JSONObject = [
            "connector": .string(path),
            "operation": .string(operation),
            "arguments": .array(words.map(JSONValue.string)),
            "timeoutMilliseconds": .integer(milliseconds),
        ]
        let answer = try await asking("/api/v1/calls") { path throws(ConnectorError) in
            try await client.post(path, body, within: timeout + ControlClient.timeout)
        }
        guard let answer else { throw ended }
        guard answer["version"]?.integer == 1, let result = answer["result"] else { throw incompatible("an answer") }
        return result
    }

    /// Receives the events of plugins until the body stops it, the host ends or the task is cancelled.
    ///
    /// - Parameters:
    ///   - path: The connector; nil for all.
    ///   - onUnreadable: Receives the reason for each event that is skipped because this program cannot read it.
    ///   - body: Receives an event; returns false to stop.
    func watch(
        _ path: String?,
        onUnreadable: @escaping @Sendable (ConnectorError) -> Void,
        _ body: @escaping @Sendable (ConnectorEvent) -> Bool
    ) async throws(ConnectorError) {
        var query = QueryItems()
        query.append("connector", path)
        _ = try await asking("/api/v1/events") { path throws(ConnectorError) in
            try await client.stream(query.appended(to: path), onUnreadable: onUnreadable) { document in
                ConnectorEvent(json: document).map(body) ?? true
            }
        }
    }

    /// Fetches a document.
    ///
    /// - Parameter query: The parameters of the URL; those without a value are omitted.
    func document(
        _ path: String,
        _ query: [(String, String?)] = [],
        within timeout: Duration? = ControlClient.timeout
    ) async throws(ConnectorError) -> JSONValue {
        var items = QueryItems()
        for (name, value) in query { items.append(name, value) }
        let document = try await asking(path) { path throws(ConnectorError) in
            try await client.get(items.appended(to: path), within: timeout)
        }
        guard let document else { throw ended }
        return document
    }

    /// Makes the host perform an act, without a timeout.
    func act(_ path: String, _ body: JSONObject) async throws(ConnectorError) -> JSONValue {
        let document = try await asking(path) { path throws(ConnectorError) in
            try await client.post(path, body, within: nil)
        }
        guard let document else { throw ended }
        return document
    }

    /// Makes the host reload and returns the outcome.
    ///
    /// - Parameter basis: The basis of the plan to apply; nil to apply whatever the file says now.
    func reload(_ basis: Plan.Basis? = nil) async throws(ConnectorError) -> Reload {
        var body = JSONObject()
        body["basis"] = basis?.json
        return try await change("/api/v1/reload", body)
    }

    /// Replaces the image of a connector's plugin and returns the outcome of the reload.
    ///
    /// - Parameter basis: The basis of the plan to apply; nil to apply whatever there is now.
    func swap(_ path: String, with file: String, _ basis: Plan.Basis?) async throws(ConnectorError) -> Reload {
        var body: JSONObject = ["connector": .string(path), "file": .string(file)]
        body["basis"] = basis?.json
        return try await change("/api/v1/swap", body)
    }

    private func change(_ endpoint: String, _ body: JSONObject) async throws(ConnectorError) -> Reload {
        guard let document = try await client.attempt(endpoint, body) else { throw ended }
        if let reload = Reload(json: document) { return reload }
        let error = document["errors"]?[0].flatMap(ConnectorError.init(json:)) ?? incompatible("the end of a reload")
        throw explained(error, of: endpoint)
    }

    /// Returns what a reload of the host would change. It has no timeout, because the host and the commands of its secrets have their
    /// own.
    func plan() async throws(ConnectorError) -> Plan {
        if let plan = Plan(json: try await document("/api/v1/plan", within: nil)) { return plan }
        throw incompatible("a plan")
    }

    /// Returns what replacing the image of a connector's plugin would change.
    func plan(swapping path: String, with file: String) async throws(ConnectorError) -> Plan {
        let query = [("connector", path), ("file", file)]
        if let plan = Plan(json: try await document("/api/v1/swap/plan", query, within: nil)) { return plan }
        throw incompatible("a plan")
    }

    /// The error for a host that no longer listens.
    var ended: ConnectorError {
        ConnectorError(.notOpen, "the host of process \(identity.process) has ended", isRetryable: true)
    }

    /// The error for a document from an incompatible release.
    func incompatible(_ what: String) -> ConnectorError {
        ConnectorError(
            .protocolViolation,
            "process \(identity.process) returned \(what) that this release cannot read",
            fix: releases
        )
    }

    /// The fix for a host of another release.
    private var releases: String {
        "its release is \(identity.release), and that of this program \(ConnectorHost.version): use the one of the host"
    }

    /// Asks the host for a path, and says so if the host is of a release that does not have it.
    private func asking<Answer>(
        _ path: String,
        _ ask: (_ path: String) async throws(ConnectorError) -> Answer
    ) async throws(ConnectorError) -> Answer {
        do throws(ConnectorError) {
            return try await ask(path)
        } catch {
            throw explained(error, of: path)
        }
    }

    /// The error of a request, or that of a host of another release if the host does not have the path.
    func explained(_ error: ConnectorError, of path: String) -> ConnectorError {
        let absence = ControlAPI.absence(of: path)
        guard error.code == absence.code, error.message == absence.message else { return error }
        let message = "process \(identity.process) does not know the request \(path)"
        return ConnectorError(.unsupported, message, fix: releases)
    }

    /// The host's report.
    ///
    /// - Throws: `not-open` if the host has ended; `protocol` for a document that this release cannot read.
    func report() async throws(ConnectorError) -> Report {
        let document = try await asking("/api/v1/status") { path throws(ConnectorError) in try await client.get(path) }
        guard let document else { throw ended }
        if let report = Report(json: document) { return report }
        throw incompatible("a report")
    }
}
