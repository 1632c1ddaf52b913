// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How much processor time a request takes, beside the HTTP client that the host uses.
extension Suite {
    /// How many requests make a sample.
    private static let requestCount = 2000

    /// Sends the same request to a server in another process, alone and many at once.
    func requests() async throws -> [Measurement] {
        let target = try RequestTarget(files: files)
        let measurements = [
            Measurement("http/1", "http/1 request, processor time", beside: "AsyncHTTPClient", goal: .ratio(1.2)),
            Measurement("http/16", "  sixteen at once", beside: "AsyncHTTPClient", goal: .ratio(1.2)),
            Measurement("http-futures/1", "  beside its interface without tasks", beside: "AHC futures"),
            Measurement("http-futures/16", "  sixteen at once", beside: "AHC futures"),
        ]
        let results = try await alternate(measurements, rounds: rounds / 2) { measurement in
            let atOnce = measurement.id.hasSuffix("16") ? 16 : 1
            let count = Self.requestCount
            let reference =
                try await measurement.id.hasPrefix("http-futures")
                ? RequestTarget.cost(of: count, atOnce: atOnce) { try await target.byFuture() }
                : RequestTarget.cost(of: count, atOnce: atOnce) { try await target.byClient() }
            let host = try await RequestTarget.cost(of: count, atOnce: atOnce) { try await target.byPlugin() }
            return (host, reference)
        }
        try await target.close()
        return results
    }
}
