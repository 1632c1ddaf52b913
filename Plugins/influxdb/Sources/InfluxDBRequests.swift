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
            if body?["error"]?.string != nil || response.headers["X-Influxdb-Error"] != nil { return true }
            if body?["code"]?.string != nil, body?["message"]?.string != nil { return true }
            return InfluxDBRequests.isRefusedAsEmpty(response)
        }
    )

    /// The words of 2.x and 3.x for a write without points.
    private static let emptyWrites = ["writing requires points", "write was empty", "no points"]

    /// Whether a write is refused only because it has no points.
    static func isRefusedAsEmpty(_ response: HTTPResponse) -> Bool {
        guard response.status == 400, !response.isPage else { return false }
        let text = (words(of: response) ?? response.excerpt).lowercased()
        return emptyWrites.contains { text.contains($0) }
    }

    /// InfluxDB's own words: `error`, or `message` in 2.x.
    static func words(of response: HTTPResponse) -> String? {
        let body = try? response.json()
        return body?["error"]?.string ?? body?["message"]?.string ?? response.headers["X-Influxdb-Error"]
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
