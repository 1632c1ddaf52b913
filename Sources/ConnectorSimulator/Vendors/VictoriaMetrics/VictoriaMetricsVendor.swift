// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// VictoriaMetrics as a single server: `/api/v1/import` and `/api/v1/export` with a line of JSON for each series, and `/health`.
///
/// Credentials are required only if some have a user name, as on a server with `-httpAuth.username`; never for
/// `/health`. As on the real server, an import answers 204 even if it skips unreadable lines, and it ignores samples more
/// than two days ahead. A selector can only be a metric's name; others, queries and other formats are refused. Source: version 1.79 of
/// the server.
final class VictoriaMetricsVendor: Vendor {
    static let name = "victoriametrics"
    static let demoCredentials = ["username": "demo", "password": "demo-password"]
    static let secretKeys = ["password"]

    /// How far ahead a sample may be, in milliseconds.
    private static let future: Int64 = 2 * 86_400_000

    /// The samples of one set of labels.
    private struct Series {
        /// The labels in the order of their names; none is empty.
        var labels: JSONObject
        /// The samples in order of arrival.
        var samples: [(time: Int64, value: Double)] = []
    }

    /// What the server accepts.
    private let credentials: AcceptedCredentials
    /// The series by their serialized labels.
    private let series = Mutex<[ExactText: Series]>([:])

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        if request.path == "/health" { return HTTPResponse(text: "OK") }
        guard credentials.acceptsBasic(of: request) else {
            var refusal = HTTPResponse(status: 401, text: "\n")
            refusal.headers["WWW-Authenticate"] = "Basic realm=\"VictoriaMetrics\""
            return refusal
        }
        switch request.path {
        case "/api/v1/import": return importLines(of: request)
        case "/api/v1/export": return export(request)
        default:
            return failure(status: 400, message: "unsupported path requested: \"\(request.path)\"")
        }
    }

    /// Stores the samples of a line for each series, and skips the lines that cannot be read.
    private func importLines(of request: SimulatedRequest) -> HTTPResponse {
        var extra: [(name: String, value: String)] = []
        for item in request.query.items where item.name == "extra_label" {
            let pair = item.value.split(ascii: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard pair.count == 2 else {
                let message = "`extra_label` query arg must have the format `name=value`; got \"\(item.value)\""
                return failure(status: 400, message: message)
            }
            extra.append((pair[0], pair[1]))
        }
        let latest = request.receivedAt.milliseconds + Self.future
        for line in request.body.split(separator: UInt8(ascii: "\n")) {
            guard let json = try? JSONValue(parsing: Array(line)), var labels = json["metric"]?.object,
                let values = json["values"]?.array, let timestamps = json["timestamps"]?.array
            else { continue }
            let samples = zip(timestamps, values).compactMap { time, value in
                value.number.flatMap { value in time.integer.map { (time: $0, value: value) } }
            }
            guard samples.count == values.count, values.count == timestamps.count else { continue }
            for label in extra { labels[label.name] = .string(label.value) }
            // A label without a text is none.
            let named = labels.members.filter { $0.value.string?.isEmpty == false }
            let sorted = JSONObject(
                named.sorted { ExactText($0.name) < ExactText($1.name) }.map { ($0.name, $0.value) }
            )
            let key = ExactText(JSONValue.object(sorted).serialized())
            series.withLock { series in
                for sample in samples where (0...latest).contains(sample.time) {
                    series[key, default: Series(labels: sorted)].samples.append(sample)
                }
            }
        }
        return HTTPResponse(status: 204)
    }

    /// Answers the samples of metrics, those of each series in the order of their times.
    private func export(_ request: SimulatedRequest) -> HTTPResponse {
        var names: Set<ExactText> = []
        var times = (first: Int64(0), last: Int64.max)
        for item in request.query.items {
            switch item.name {
            case "match[]", "match":
                guard !item.value.isEmpty else {
                    return failure(status: 400, message: "cannot parse matches[]=: unexpected token \"\"")
                }
                guard item.value.utf8.allSatisfy({ !"{}\"=,".utf8.contains($0) }) else {
                    return failure(status: 400, message: "the simulator takes no selector but the name of a metric")
                }
                names.insert(ExactText(item.value))
            case "start", "end":
                guard let time = Self.time(item.value) else {
                    return failure(status: 400, message: "cannot parse \(item.name)=\(item.value)")
                }
                if item.name == "start" { times.first = time } else { times.last = time }
            case "reduce_mem_usage": break
            default: return failure(status: 400, message: "the simulator does not implement \(item.name)")
            }
        }
        guard !names.isEmpty else { return failure(status: 400, message: "missing `match[]` arg") }
        let found = series.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
            .filter { $0.labels["__name__"]?.string.map { names.contains(ExactText($0)) } == true }
        let lines = found.map { series -> String in
            let samples = series.samples.filter { times.first <= $0.time && $0.time <= times.last }.enumerated()
                .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
            let line: JSONValue = [
                "metric": .object(series.labels), "values": .array(samples.map { Self.json($0.value) }),
                "timestamps": .array(samples.map { .integer($0.time) }),
            ]
            return samples.isEmpty ? "" : line.serialized() + "\n"
        }
        return HTTPResponse(text: lines.joined(), type: "application/stream+json; charset=utf-8")
    }

    /// A time in seconds since 1970 or in RFC 3339, as milliseconds.
    private static func time(_ text: String) -> Int64? {
        guard let seconds = Double(text) else { return Timestamp(parsing: text)?.milliseconds }
        return Int64(exactly: (seconds * 1000).rounded())
    }

    /// A sample's value; a whole number without a fraction.
    private static func json(_ value: Double) -> JSONValue {
        JSONValue.number(value).integer.map { .integer($0) } ?? .number(value)
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        return HTTPResponse(status: status, text: "\(message ?? code ?? HTTPReason.text(of: status))\n")
    }
}
