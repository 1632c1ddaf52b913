// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to VictoriaMetrics.
struct VictoriaMetricsRequests {
    /// Limits well within the servers' default of 10 MB per line.
    static let limits = BatchDelivery(itemBytes: 1 << 20, batchBytes: 4 << 20, batchCount: 5000)

    /// VictoriaMetrics answers 204 once it has the samples, and skips lines that it cannot read. It refuses only what is longer than
    /// `-import.maxLineLen`; with 400, it also answers that it does not know the path, and vmauth that it has no route for it.
    static let imported = VendorAnswer(
        "victoriametrics",
        statuses: 204...204,
        [.empty],
        isRefusal: { $0.excerpt(of: 4096).contains("too long line") }
    )

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
