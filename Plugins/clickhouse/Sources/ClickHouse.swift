// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Inserts every event as a row into ClickHouse (clickhouse.com/docs/interfaces/http).
struct ClickHouse: AnalyticsPlugin {
    private let host: Host
    private let requests: ClickHouseRequests
    private let keyCheck = KeyCheck()

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

    /// Asks for no row of the table, which proves that it exists and that the user may read it. If the server refuses the
    /// same with a wrong password, the credentials are proved.
    func open() async throws -> [Evidence] {
        try await reach()
        let wrong = requests.emptyQuery(hasWrongPassword: true)
        return await keyCheck.evidence(reachable, refused: wrong, by: host.http)
    }

    /// Sends only the real password: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        try await reach()
        return keyCheck.evidence(reachable)
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await ClickHouseRequests.limits.deliver(events) { event in
            ClickHouseRequests.row(event, now: now)
        } send: { batch in
            let token = ClickHouseRequests.token(of: batch.map(\.item.messageId))
            try await check(requests.insert(batch.map(\.bytes), token: token))
        }
    }

    private func reach() async throws(PluginError) {
        try await check(requests.emptyQuery())
    }

    private var reachable: Evidence {
        .reachable("the table \(requests.table) of \(requests.database) can be read")
    }

    /// Throws unless ClickHouse did what it was asked. Its answers are empty; it is its header that tells them from those of a
    /// proxy.
    private func check(_ request: HTTPRequest) async throws(PluginError) {
        let answer = try await host.http.send(request)
        if answer.headers["X-ClickHouse-Exception-Code"] != nil { throw failure(answer) }
        _ = try ClickHouseRequests.done.body(of: answer, failure: failure)
        guard answer.headers["X-ClickHouse-Query-Id"] != nil else {
            throw PluginError(
                .protocolViolation,
                "the answer has no header X-ClickHouse-Query-Id; something between may have sent it",
                domain: "clickhouse",
                detail: Int32(answer.status)
            )
        }
    }

    /// The error, with what ClickHouse's own code says that its status does not.
    private func failure(_ response: HTTPResponse) -> PluginError {
        var failure = response.failure(vendor: "clickhouse", now: host.clock.now)
        let kind: PluginStatus? =
            switch response.headers["X-ClickHouse-Exception-Code"] {
            // Wrong data, although some versions answer 500.
            case "6", "26", "27", "41", "53", "72", "117": .invalid
            // The user may not read or insert.
            case "164", "497": .unauthorized
            case "16", "60", "81": .notFound
            default: nil
            }
        if let kind { (failure.status, failure.isRetryable) = (kind, false) }
        return failure
    }
}
