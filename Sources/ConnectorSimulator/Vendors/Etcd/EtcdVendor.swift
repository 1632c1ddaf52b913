// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// The JSON gateway of etcd 3.5: keys with revisions, transactions, watches, and the tokens of users.
///
/// There are no leases and no administration, whose requests answer 404, and no nested transactions, which answer 501. A fault
/// whose code is etcd's message about a token, such as `code=etcdserver: revision of auth store is old`, gets the status that
/// belongs to the message. Sources: etcd.io/docs/v3.5/dev-guide/api_grpc_gateway and `rpc.proto`.
final class EtcdVendor: Vendor {
    static let name = "etcd"
    static let demoCredentials = ["username": "demo", "password": "demo-password"]
    static let secretKeys = ["password"]

    private struct State {
        var store = EtcdStore()
        var watchers: [Int: EtcdWatcher] = [:]
        var lastWatcher = 0
        var tokens: Set<String> = []
    }

    private let credentials: AcceptedCredentials
    private let state = Mutex(State())

    /// The most watches at a time, and the most messages that wait for a watch's client.
    private static let watchLimit = (watches: 1000, messages: 10_000)
    /// How often a watch that asked for progress is sent the revision.
    private static let progressInterval = Duration.seconds(600)

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse { exchange(for: request).response }

    func exchange(for request: SimulatedRequest) -> SimulatedExchange {
        do throws(EtcdFailure) {
            return try answer(request)
        } catch {
            return SimulatedExchange(response: HTTPResponse(status: error.status, json: error.json))
        }
    }

    /// The paths of the requests that may need a token.
    private static let paths: Set = [
        "v3/kv/range", "v3/kv/put", "v3/kv/deleterange", "v3/kv/txn", "v3/kv/compaction", "v3/maintenance/status",
        "v3/watch",
    ]

    private func answer(_ request: SimulatedRequest) throws(EtcdFailure) -> SimulatedExchange {
        let path = request.components.joined(separator: "/")
        switch path {
        case "version": return ok(["etcdserver": "3.5.16", "etcdcluster": "3.5.0"])
        case "health": return ok(["health": "true", "reason": ""])
        default: break
        }
        guard path.hasPrefix("v3/") else { throw EtcdFailure(code: 5, words: "Not Found") }
        guard request.method == "POST" else { throw EtcdFailure(code: 12, words: "Method Not Allowed") }
        guard let value = request.body.isEmpty ? [:] : try? request.json() else {
            throw .invalid("json: the request is not JSON")
        }
        let body = try EtcdRequestReader(value)
        if path == "v3/auth/authenticate" { return ok(try authenticate(body)) }
        // The gateway knows its paths before the server looks at the user.
        guard Self.paths.contains(path) else { throw EtcdFailure(code: 5, words: "Not Found") }
        try authorize(request)
        switch path {
        case "v3/kv/range": return ok(try state.withLock { state throws(EtcdFailure) in try state.store.range(body) })
        case "v3/kv/put": return ok(try change { store throws(EtcdFailure) in try store.put(body) })
        case "v3/kv/deleterange": return ok(try change { store throws(EtcdFailure) in try store.remove(body) })
        case "v3/kv/txn": return ok(try change { store throws(EtcdFailure) in try store.transact(body) })
        case "v3/kv/compaction": return ok(try compact(body))
        case "v3/maintenance/status": return ok(state.withLock { ["header": $0.store.header, "version": "3.5.16"] })
        default: return try watch(body)
        }
    }

    private func ok(_ answer: JSONObject) -> SimulatedExchange {
        SimulatedExchange(response: HTTPResponse(json: .object(answer)))
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        for failure in [EtcdFailure.badToken, .oldToken] where failure.words == code {
            return HTTPResponse(status: status ?? failure.status, json: failure.json)
        }
        let status = status ?? 500
        let words = message ?? code ?? HTTPReason.text(of: status)
        let known = [400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 503: 14] as [Int: Int64]
        return HTTPResponse(status: status, json: EtcdFailure(code: known[status] ?? 2, words: words).json)
    }

    // MARK: Users

    /// Whether requests need a token: every accepted set of credentials has a user name.
    private var requiresUser: Bool {
        !credentials.sets.isEmpty && credentials.sets.allSatisfy { !($0["username"] ?? "").isEmpty }
    }

    private func authenticate(_ body: EtcdRequestReader) throws(EtcdFailure) -> JSONObject {
        guard credentials.requires("username") else { throw .authenticationIsOff }
        let (name, password) = (body["name"]?.string, body["password"]?.string)
        guard let name, let password, credentials.accepts(["username": name, "password": password]) else {
            throw .badCredentials
        }
        let token = "\(Identifier.alphanumeric(16)).\(Int.random(in: 1...999))"
        return state.withLock { state in
            state.tokens.insert(token)
            return ["header": state.store.header, "token": .string(token)]
        }
    }

    private func authorize(_ request: SimulatedRequest) throws(EtcdFailure) {
        guard let token = request.fields["Authorization"] else {
            if requiresUser { throw .noUser }
            return
        }
        guard state.withLock({ $0.tokens.contains(token) }) else { throw .badToken }
    }

    // MARK: Changes

    /// Makes a change, and notifies the watchers of it.
    private func change(
        _ body: (inout EtcdStore) throws(EtcdFailure) -> JSONObject
    ) throws(EtcdFailure) -> JSONObject {
        try state.withLock { state throws(EtcdFailure) in
            var (answer, events) = try state.store.change(body)
            let header = state.store.header
            // The header of the answer has the next revision, which a change without effect does not reach.
            answer["header"] = header
            for id in state.watchers.keys { state.watchers[id]?.send(events, header: header) }
            return answer
        }
    }

    private func compact(_ body: EtcdRequestReader) throws(EtcdFailure) -> JSONObject {
        let revision = try body.number("revision")
        return try state.withLock { state throws(EtcdFailure) in
            try state.store.compact(to: revision)
            return ["header": state.store.header]
        }
    }

    // MARK: Watches

    /// Answers with a stream of lines, which ends when the client disconnects or falls too far behind.
    private func watch(_ body: EtcdRequestReader) throws(EtcdFailure) -> SimulatedExchange {
        guard let create = body["create_request"] else { throw .invalid("etcdserver: a watch needs a create_request") }
        let request = try EtcdRequestReader(create)
        let range = try request.range()
        let (start, withPrevious) = (try request.number("start_revision"), try request.flag("prev_kv"))
        let filters = try request.choices("filters", ["NOPUT", "NODELETE"])
        guard try request.number("watch_id") == 0 else { throw .unimplemented("watch_id") }
        let kinds = (puts: !filters.contains("NOPUT"), deletions: !filters.contains("NODELETE"))
        let wantsProgress = try request.flag("progress_notify")
        var exchange = SimulatedExchange(response: HTTPResponse(json: .object([:])))
        exchange.response.body = []
        exchange.stream = { [self] clock, write in
            let (stream, lines) = AsyncStream.makeStream(
                of: [UInt8].self,
                bufferingPolicy: .bufferingOldest(Self.watchLimit.messages)
            )
            let watcher = EtcdWatcher(
                range: range,
                next: start,
                withPrevious: withPrevious,
                kinds: kinds,
                lines: lines
            )
            let id = begin(watcher)
            defer { end(id) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                if wantsProgress { group.addTask { try await self.sendProgress(lines, clock) } }
                for await line in stream { try await write(line) }
            }
        }
        return exchange
    }

    /// Adds a watcher, and sends it what has happened since its first revision.
    private func begin(_ watcher: EtcdWatcher) -> Int {
        state.withLock { state in
            var watcher = watcher
            state.lastWatcher += 1
            let header = state.store.header
            if state.watchers.count >= Self.watchLimit.watches {
                watcher.lines.finish()
            } else if watcher.next > 0, watcher.next <= state.store.compacted {
                let compacted = JSONValue.string("\(state.store.compacted)")
                watcher.lines.yield(EtcdWatcher.line(["header": header, "created": true]))
                let end: JSONObject = ["header": header, "canceled": true, "compact_revision": compacted]
                watcher.lines.yield(EtcdWatcher.line(end))
                watcher.lines.finish()
            } else {
                watcher.lines.yield(EtcdWatcher.line(["header": header, "created": true]))
                if watcher.next == 0 { watcher.next = state.store.revision + 1 }
                watcher.send(state.store.events, header: header)
                state.watchers[state.lastWatcher] = watcher
            }
            return state.lastWatcher
        }
    }

    private func end(_ id: Int) {
        let watcher = state.withLock { $0.watchers.removeValue(forKey: id) }
        watcher?.lines.finish()
    }

    private func sendProgress(
        _ lines: AsyncStream<[UInt8]>.Continuation,
        _ clock: any Clock<Duration>
    ) async throws {
        while true {
            try await clock.sleep(for: Self.progressInterval)
            lines.yield(EtcdWatcher.line(["header": state.withLock { $0.store.header }]))
        }
    }
}
