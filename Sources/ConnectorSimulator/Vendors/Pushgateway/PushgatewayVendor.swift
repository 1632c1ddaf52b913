// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// The Prometheus Pushgateway: pushes to `/metrics/job/…`, deletions, `/metrics`, and the API under `/api/v1`.
///
/// Credentials are required only if some have a user name, as on a gateway with `basic_auth_users`. The lines of histograms and
/// summaries are treated like any others. Source: version 1.5 of the gateway.
package final class PushgatewayVendor: Vendor {
    package static let name = "pushgateway"
    package static let demoCredentials = ["job": "demo", "username": "demo", "password": "demo-password"]
    package static let secretKeys = ["password"]

    private let credentials: AcceptedCredentials
    /// The groups by their labels.
    private let groups = Mutex<[[String: ExactText]: PushedGroup]>([:])

    package init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    package func respond(to request: SimulatedRequest) -> HTTPResponse {
        guard credentials.acceptsBasic(of: request) else {
            var refusal = failure(status: 401)
            refusal.headers["WWW-Authenticate"] = "Basic"
            return refusal
        }
        let path = request.components
        switch (request.method, path.first) {
        case ("GET", "-") where path == ["-", "ready"] || path == ["-", "healthy"]: return HTTPResponse(text: "OK")
        case ("GET", "api") where path == ["api", "v1", "status"]: return status()
        case ("GET", "api") where path == ["api", "v1", "metrics"]: return metrics()
        case ("GET", "metrics") where path.count == 1:
            let text = groups.withLock { groups in groups.values.map(\.text).sorted().joined() }
            return HTTPResponse(text: text, type: "text/plain; version=0.0.4; charset=utf-8")
        case (_, "metrics") where path.count > 1: return change(request, Array(path.dropFirst()))
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
                let metrics = try PushedMetric.parse(request.text, group: labels)
                groups.withLock { groups in
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

    /// The labels in a path of alternating names and values, the job first; `@base64` after a name marks an encoded value.
    private static func labels(in path: [String]) throws(Refusal) -> [String: String] {
        guard path.count.isMultiple(of: 2), ["job", "job@base64"].contains(path[0]) else {
            throw Refusal(message: "odd number of components in label string \"/\(path.joined(separator: "/"))\"")
        }
        var labels: [String: String] = [:]
        for index in stride(from: 0, to: path.count, by: 2) {
            var (name, value) = (path[index], path[index + 1])
            if name.hasSuffix("@base64") {
                name.removeLast("@base64".count)
                guard let bytes = Self.decode(value) else {
                    throw Refusal(message: "invalid base64 encoding in label \(name)=\"\(value)\"")
                }
                value = String(decoding: bytes, as: UTF8.self)
            }
            labels[name] = value
        }
        return labels
    }

    /// Decodes Base64 in the standard or the URL alphabet, with or without padding.
    private static func decode(_ text: String) -> [UInt8]? {
        let digits = text.replacing("-", with: "+").replacing("_", with: "/").prefix { $0 != "=" }
        return Base64.decode(digits + String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4))
    }

    private func status() -> HTTPResponse {
        HTTPResponse(json: [
            "status": "success",
            "data": [
                "build_information": ["branch": "simulated", "version": "1.5.1"],
                "flags": ["web.listen-address": ":9091"],
            ],
        ])
    }

    private func metrics() -> HTTPResponse {
        let data = groups.withLock { groups in groups.values.map(\.json) }
        return HTTPResponse(json: ["status": "success", "data": .array(data)])
    }

    package func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        return HTTPResponse(status: status, text: "\(message ?? code ?? HTTPReason.text(of: status))\n")
    }
}
