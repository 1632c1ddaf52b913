// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to VictoriaMetrics.
struct VictoriaMetricsRequests {
    /// Limits well within the servers' default of 10 MB per line.
    static let limits = BatchDelivery(itemBytes: 1 << 20, batchBytes: 4 << 20, batchCount: 5000)

    /// VictoriaMetrics answers 204 once it has the samples.
    static let imported = VendorAnswer("victoriametrics", statuses: 204...204, [.empty])

    let endpoint: HTTPURL
    let job: String?

    /// An import of samples, one time series per line.
    func `import`(_ lines: [[UInt8]]) -> HTTPRequest {
        let url = endpoint.appending(path: "/api/v1/import").with("extra_label", job.map { "job=\($0)" })
        var body: [UInt8] = []
        body.append(lines, separator: UInt8(ascii: "\n"))
        return HTTPRequest(
            .post,
            url,
            headers: ["Content-Type": "application/stream+json"],
            body: body,
            isCompressed: !lines.isEmpty
        )
    }
}
