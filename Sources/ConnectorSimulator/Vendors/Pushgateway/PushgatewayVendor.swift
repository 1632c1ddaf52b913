// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// The Prometheus Pushgateway: pushes to `/metrics/job/…`, deletions, `/metrics`, and the API under `/api/v1`.
///
/// Credentials are required only if some have a user name, as on a gateway with `basic_auth_users`. Pushes are in the text format or
/// in protocol buffers. The lines of histograms and summaries are treated like any others. Source: version 1.5 of the gateway.
final class PushgatewayVendor: Vendor {
    static let name = "pushgateway"
    static let demoCredentials = ["job": "demo", "username": "demo", "password": "demo-password"]
    static let secretKeys = ["password"]

    private let credentials: AcceptedCredentials
    /// The groups by their labels.
    private let groups = Mutex<[[String: ExactText]: PushedGroup]>([:])

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        guard credentials.acceptsBasic(of: request) else {
            var refusal = failure(status: 401)
            refusal.headers["WWW-Authenticate"] = "Basic"
            return refusal
        }
        // The gateway decodes slashes before it divides the path.
        let path = PercentCoding.decode(request.path).split(ascii: "/").map { String($0) }
        switch (request.method, path.first) {
        case ("GET", "-") where path == ["-", "ready"] || path == ["-", "healthy"]: return HTTPResponse(text: "OK")
        case ("GET", "api") where path == ["api", "v1", "status"]: return status()
        case ("GET", "api") where path == ["api", "v1", "metrics"]: return metrics()
        case ("GET", "metrics") where path.count == 1:
            let text = groups.withLock { PushedGroup.text(of: $0.values) }
            return HTTPResponse(text: text, type: "text/plain; version=0.0.4; charset=utf-8")
        case (_, "metrics") where path.count == 1: return failure(status: 405, message: "Method Not Allowed")
        case (_, "metrics") where path.count > 2 && ["job", "job@base64"].contains(path[1]):
            guard path.count.isMultiple(of: 2) == false else {
                let labels = path.dropFirst(3).joined(separator: "/")
                return failure(status: 400, message: "odd number of components in label string \"/\(labels)\"")
            }
            return change(request, Array(path.dropFirst()))
        default: return failure(status: 404, message: "404 page not found")
        }
    }

    /// Pushes to a group, or deletes it.
    private func change(_ request: SimulatedRequest, _ path: [String]) -> HTTPResponse {
        do {
            let labels = try Self.labels(in: path)
            let key = labels.mapValues(ExactText.init)
            switch request.method {
            case "POST", "PUT":
                let metrics = try PushedMetric.pushed(by: request, to: labels)
                try groups.withLock { groups throws(Refusal) in
                    for other in groups where other.key != key { try Self.check(metrics, against: other.value) }
                    let old = request.method == "PUT" ? [:] : groups[key]?.metrics ?? [:]
                    groups[key] = PushedGroup(
                        labels: labels,
                        metrics: old.merging(metrics) { $1 },
                        pushedAt: request.receivedAt
                    )
                }
                return HTTPResponse(status: 200)
            case "DELETE":
                groups.withLock { $0[key] = nil }
                return HTTPResponse(status: 202)
            default: return failure(status: 405, message: "Method Not Allowed")
            }
        } catch {
            return failure(status: 400, message: error.message)
        }
    }

    /// Throws if a metric has another type in another group.
    private static func check(_ metrics: [String: PushedMetric], against group: PushedGroup) throws(Refusal) {
        for (name, metric) in metrics {
            guard let type = group.metrics[name]?.type, type != metric.type else { continue }
            throw PushedMetric.inconsistent("collected metric \"\(name)\" is not a \(type.uppercased())")
        }
    }

    /// The labels in a path of alternating names and values, the job first; `@base64` after a name marks an encoded value.
    private static func labels(in path: [String]) throws(Refusal) -> [String: String] {
        var labels: [String: String] = [:]
        // The job comes last, so that no label replaces it.
        for index in Array(stride(from: 2, to: path.count, by: 2)) + [0] {
            var (name, value) = (path[index], path[index + 1])
            if name.hasSuffix("@base64") {
                name.removeLast("@base64".count)
                guard let bytes = Self.decode(value), let text = String(validating: bytes, as: UTF8.self) else {
                    throw Refusal(message: "invalid base64 encoding for label \(name)=\"\(value)\"")
                }
                value = text
            }
            guard name.isCIdentifier, !name.starts(ascii: "__") else {
                throw Refusal(message: "improper label name \"\(name)\"")
            }
            labels[name] = value
        }
        guard labels["job"]?.isEmpty == false else { throw Refusal(message: "job name is required") }
        return labels
    }

    /// Decodes Base64 in the standard or the URL alphabet, with or without padding.
    private static func decode(_ text: String) -> [UInt8]? {
        let digits = text.replacing("-", with: "+").replacing("_", with: "/").prefix { $0 != "=" }
        return Base64.decode(digits + String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4))
    }

    /// Answers what the gateway says of itself.
    private func status() -> HTTPResponse {
        HTTPResponse(json: [
            "status": "success",
            "data": [
                "build_information": ["branch": "simulated", "version": "1.5.1"],
                "flags": ["web.listen-address": ":9091"],
            ],
        ])
    }

    /// Answers the metrics of every group.
    private func metrics() -> HTTPResponse {
        let data = groups.withLock { groups in groups.values.map(\.json) }
        return HTTPResponse(json: ["status": "success", "data": .array(data)])
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        return HTTPResponse(status: status, text: "\(message ?? code ?? HTTPReason.text(of: status))\n")
    }
}
