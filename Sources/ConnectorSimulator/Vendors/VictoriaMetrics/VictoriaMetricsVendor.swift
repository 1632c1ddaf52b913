// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// VictoriaMetrics as a single server: `/api/v1/import` and `/api/v1/export` with a line of JSON for each series, and `/health`.
///
/// Credentials are required only if some have a user name, as on a server with `-httpAuth.username`; never for
/// `/health`. As on the real server, an import answers 204 even if it skips unreadable lines, and it ignores samples more
/// than two days ahead. A selector can only be a metric's name. Source: version 1.79 of the server.
package final class VictoriaMetricsVendor: Vendor {
    package static let name = "victoriametrics"
    package static let demoCredentials = ["username": "demo", "password": "demo-password"]
    package static let secretKeys = ["password"]

    /// How far ahead a sample may be, in milliseconds.
    private static let future: Int64 = 2 * 86_400_000

    private struct Series {
        var labels: JSONObject
        var values: [JSONValue] = []
        var timestamps: [JSONValue] = []
    }

    private let credentials: AcceptedCredentials
    /// The series by their serialized labels.
    private let series = Mutex<[String: Series]>([:])

    package init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    package func respond(to request: SimulatedRequest) -> HTTPResponse {
        if request.path == "/health" { return HTTPResponse(text: "OK") }
        guard credentials.acceptsBasic(of: request) else {
            var refusal = HTTPResponse(status: 401, text: "\n")
            refusal.headers["WWW-Authenticate"] = "Basic realm=\"VictoriaMetrics\""
            return refusal
        }
        switch request.path {
        case "/api/v1/import":
            importLines(of: request)
            return HTTPResponse(status: 204)
        case "/api/v1/export": return export(request)
        default:
            return failure(status: 400, message: "unsupported path requested: \"\(request.path)\"")
        }
    }

    private func importLines(of request: SimulatedRequest) {
        let extra = request.query.items.filter { $0.name == "extra_label" }
            .map { $0.value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init) }
        let latest = Int64(clamping: request.receivedAt.nanoseconds / 1_000_000) + Self.future
        for line in request.body.split(separator: UInt8(ascii: "\n")) {
            guard let json = try? JSONValue(parsing: Array(line)), var labels = json["metric"]?.object,
                let values = json["values"]?.array, let timestamps = json["timestamps"]?.array,
                values.count == timestamps.count
            else { continue }
            for label in extra where label.count == 2 { labels[label[0]] = .string(label[1]) }
            let sorted = JSONObject(labels.members.sorted { $0.name < $1.name }.map { ($0.name, $0.value) })
            series.withLock { series in
                let key = JSONValue.object(sorted).serialized()
                for (value, timestamp) in zip(values, timestamps) {
                    guard value.number != nil, let time = timestamp.integer, time <= latest else { continue }
                    series[key, default: Series(labels: sorted)].values.append(value)
                    series[key]?.timestamps.append(timestamp)
                }
            }
        }
    }

    private func export(_ request: SimulatedRequest) -> HTTPResponse {
        guard let name = request.query["match[]"] ?? request.query["match"] else {
            return failure(status: 400, message: "missing `match[]` arg")
        }
        let found = series.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
            .filter { $0.labels["__name__"] == .string(name) }
        let lines = found.map { series -> String in
            let line: JSONValue = [
                "metric": .object(series.labels), "values": .array(series.values),
                "timestamps": .array(series.timestamps),
            ]
            return line.serialized() + "\n"
        }
        return HTTPResponse(text: lines.joined(), type: "application/stream+json; charset=utf-8")
    }

    package func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        return HTTPResponse(status: status, text: "\(message ?? code ?? HTTPReason.text(of: status))\n")
    }
}
