// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Inserts every event as a row into ClickHouse (clickhouse.com/docs/interfaces/http).
final class ClickHouse: AnalyticsPlugin {
    private let host: Host
    private let requests: ClickHouseRequests
    private let keyCheck = KeyCheck()
    /// Whether the server knows insert tokens; servers before version 22 refuse the setting.
    private let knowsTokens = Atomic(true)

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = ClickHouseRequests(
            endpoint: try configuration.url("endpoint"),
            database: try configuration.string("database"),
            table: try configuration.string("table"),
            username: try configuration.string("username"),
            password: configuration.optionalSecret("password")
        )
    }

    /// Sends a query of the table that returns no rows, which proves that the table exists and that the user may read it. If the server
    /// refuses the same query with a wrong password, the credentials are proved.
    func open() async throws -> [Evidence] {
        try await keyCheck.evidence(reach(), refused: requests.emptyQuery(hasWrongPassword: true), by: host.http)
    }

    /// Sends only the real password: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        keyCheck.evidence(try await reach())
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await ClickHouseRequests.limits.deliver(events) { event in
            ClickHouseRequests.row(event, now: now)
        } send: { batch in
            let ids = batch.map(\.item.messageId)
            let token = knowsTokens.load(ordering: .relaxed) ? ClickHouseRequests.token(of: ids) : nil
            try check(await host.http.send(requests.insert(batch.map(\.bytes), token: token)))
        }
    }

    private func reach() async throws(PluginError) -> Evidence {
        var answer = try await host.http.send(requests.emptyQuery(token: "probe"))
        let knowsTokens = ClickHouseRequests.code(of: answer) != "115"
        if !knowsTokens { answer = try await host.http.send(requests.emptyQuery()) }
        try check(answer)
        self.knowsTokens.store(knowsTokens, ordering: .relaxed)
        let detail = "the table \(requests.table) of \(requests.database) can be read"
        return .reachable(knowsTokens ? detail : "\(detail); the server is too old to recognize a repeated insert")
    }

    /// Throws unless ClickHouse performed the request. Its answers are empty, so only its headers distinguish them from a proxy's.
    private func check(_ answer: HTTPResponse) throws(PluginError) {
        // An exception may come after the headers of a success.
        if ClickHouseRequests.code(of: answer) != nil { throw failure(answer) }
        _ = try ClickHouseRequests.done.body(of: answer, failure: failure)
        guard ["Query-Id", "Server-Display-Name"].contains(where: { answer.headers["X-ClickHouse-\($0)"] != nil })
        else {
            throw PluginError(
                .protocolViolation,
                "the answer has no header X-ClickHouse-Query-Id; something between may have sent it",
                domain: "clickhouse",
                detail: Int32(clamping: answer.status)
            )
        }
    }

    /// The error; ClickHouse's own code corrects what the HTTP status says.
    private func failure(_ response: HTTPResponse) -> PluginError {
        // The words about a row come late, after the server's name for the failure.
        var words = response.excerpt(of: 800)
        let code = ClickHouseRequests.code(of: response)
        if let code, words.isEmpty { words = "exception \(code)" }
        var failure = response.failure(vendor: "clickhouse", words: words, now: host.clock.now)
        let kind: PluginStatus? =
            switch code {
            // Data that the table or a view of it cannot hold, although the status is often 500.
            case "6", "25", "26", "27", "38", "41", "53", "69", "70", "72", "117", "128", "130", "131", "153", "190",
                "321", "349", "366", "376", "395", "407", "441", "467", "469", "675", "676", "691":
                .invalid
            // Whatever it is, it is about one row.
            case _ where words.contains("(at row "): .invalid
            // The user may not read or insert.
            case "164", "497": .unauthorized
            case "16", "60", "81": .notFound
            // The rows fall into too many partitions for one insert; smaller inserts succeed. With other words, code 252 goes away by
            // itself.
            case "252" where words.contains("partitions for single INSERT"): .tooLarge
            case _ where response.isSuccess: .unavailable
            default: nil
            }
        if let kind { (failure.status, failure.isRetryable) = (kind, kind == .unavailable) }
        return failure
    }
}
