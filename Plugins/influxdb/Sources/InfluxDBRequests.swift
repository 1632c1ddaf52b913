// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to InfluxDB (docs.influxdata.com/influxdb/v1/tools/api).
struct InfluxDBRequests {
    /// Limits well within the servers' default of 25 MB.
    static let limits = BatchDelivery(itemBytes: 1 << 20, batchBytes: 4 << 20, batchCount: 5000)

    /// InfluxDB answers 204 once the points are written. A 200 means that it understood the request but did not perform
    /// it.
    static let written = VendorAnswer(
        "influxdb",
        statuses: 204...204,
        [.empty],
        isRefusal: { response in
            let body = try? response.json()
            if response.headers["X-Influxdb-Error"] != nil { return true }
            // What these words blame, ``culprit(of:)`` tells, unless the status does.
            if response.status != 413, body?["error"]?.string != nil { return true }
            if body?["code"]?.string != nil, body?["message"]?.string != nil { return true }
            return InfluxDBRequests.isRefusedAsEmpty(response)
        }
    )

    /// How the words of 2.x and 3.x end for a write without points.
    private static let emptyWrites = ["writing requires points", "write was empty", "no points"]

    /// Whether a write is refused only because it has no points.
    static func isRefusedAsEmpty(_ response: HTTPResponse) -> Bool {
        guard response.status == 400, !response.isPage else { return false }
        let text = (words(of: response) ?? response.excerpt).lowercased()
        return emptyWrites.contains { text.hasSuffix($0) }
    }

    /// InfluxDB's own words: `error`, or `message` in 2.x. In 3.x, they say only that lines were refused; the reason of one follows.
    static func words(of response: HTTPResponse) -> String? {
        let body = try? response.json()
        let words = body?["error"]?.string ?? body?["message"]?.string ?? response.headers["X-Influxdb-Error"]
        let reasons = lineReasons(in: body)
        guard let words, let reason = reasons.first(where: isLimit) ?? reasons.first else { return words }
        return "\(words): \(reason)"
    }

    /// What a refusal blames.
    enum Culprit {
        /// One or more of the points.
        case points
        /// The server, or the request as a whole.
        case server
    }

    /// What a refusal of points is about: with 400 and 422, InfluxDB also answers that it has reached a limit or cannot write its files.
    ///
    /// - Returns: Nil if its words, which alone say so, are not known.
    static func culprit(of response: HTTPResponse) -> Culprit? {
        let reasons = lineReasons(in: try? response.json())
        if reasons.contains(where: isLimit) { return .server }
        guard reasons.isEmpty else { return response.status == 400 ? .points : nil }
        var reason = (words(of: response) ?? "")[...]
        for start in ["failure writing points to database: ", "write failed: ", "partial write: "]
        where reason.hasPrefix(start) { reason = reason.dropFirst(start.count) }
        if isRefusedAsEmpty(response) || faults.contains(where: { reason.hasPrefix($0) })
            || (reason.hasPrefix("dropped ") && reason.contains(" outside retention policy "))
        {
            return .points
        }
        let cause = reason.firstRange(of: " dropped=").map { reason[..<$0.lowerBound] } ?? reason
        let isServers = isLimit(String(reason)) || limitReasons.contains { reason.hasPrefix($0) }
        return isServers || causes.contains { cause.hasSuffix($0) } ? .server : nil
    }

    /// How the reasons of 1.x and 2.x begin that blame a point (`tsdb/shard.go`, `models/points.go`); the last one is of 3.x as a service.
    /// Names of the point follow in these as in others, so nothing is looked for further on.
    private static let faults = [
        "unable to parse", "field type conflict", "points beyond retention policy", "max key length exceeded",
        "key contains invalid unicode", "input field ", "invalid field name", "invalid tag key",
        "failed to parse line protocol",
    ]

    /// How the reasons begin that blame the server's limits, or the request (`tsdb/shard.go`, `services/httpd/handler.go`).
    private static let limitReasons = ["max-series", "max-values-per-tag", "database is required"]

    /// How the reasons end of a server that cannot write its files.
    private static let causes = [
        "no space left on device", "disk quota exceeded", "read-only file system", "too many open files",
        "input/output error",
    ]

    /// The reasons of 3.x, one for each line that it refuses.
    private static func lineReasons(in body: JSONValue?) -> [String] {
        let data = body?["data"]
        return (data?.array ?? [data].compactMap(\.self)).compactMap { $0["error_message"]?.string }
    }

    /// Whether 3.x refuses a line only because the server would have more tables or columns than it may (`influxdb3_catalog`).
    private static func isLimit(_ reason: String) -> Bool {
        reason.hasPrefix("Update to schema would exceed") || reason.hasPrefix("Adding a new database would exceed")
    }

    let endpoint: HTTPURL
    let database: String
    let retentionPolicy: String?

    /// A write of points, one per line.
    func write(_ lines: [[UInt8]]) -> HTTPRequest {
        let url = endpoint.appending("write").with("db", database).with("rp", retentionPolicy).with("precision", "ns")
        var body: [UInt8] = []
        body.append(lines, separator: UInt8(ascii: "\n"))
        return HTTPRequest(
            .post,
            url,
            headers: ["Content-Type": "text/plain; charset=utf-8"],
            body: body,
            isCompressed: !lines.isEmpty
        )
    }
}
