// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to a Pushgateway, and its answers.
struct PushgatewayRequests {
    /// The gateway has no limits of its own. An item here is the labels of an event's counter.
    static let limits = BatchDelivery(itemBytes: 2 << 10, batchBytes: 1 << 20, batchCount: 5000)

    /// The gateway answers 200 without a body once the push is consistent with what it has; 202 before version 1.0.
    static let pushed = VendorAnswer("pushgateway", statuses: 200...202, [.empty]) { $0.excerpt.hasPrefix("pushed ") }
    /// The versions and flags; a gateway does not refuse the question.
    static let status = VendorAnswer(
        "pushgateway",
        [.object(#"with "build_information""#) { $0["data"]?["build_information"]?.object != nil }]
    ) { _ in false }
    /// All groups with their metrics; a gateway does not refuse the question.
    static let metrics = VendorAnswer(
        "pushgateway",
        [.object(#"with "status": "success""#) { $0["status"] == "success" && $0["data"]?.array != nil }]
    ) { _ in false }

    private let endpoint: HTTPURL
    /// The labels of the group: the job and, if configured, the instance.
    let group: [(name: String, value: String)]

    /// - Throws: A ``PluginError`` for a label that cannot be a path segment.
    init(endpoint: HTTPURL, job: String, instance: String?) throws(PluginError) {
        self.endpoint = endpoint
        group = [("job", job)] + (instance.map { [("instance", $0)] } ?? [])
        for (name, value) in group where ["", ".", ".."].contains(value) || value.utf8.contains(UInt8(ascii: "/")) {
            let message = "\(name) must not be empty, \".\" or \"..\", or contain a slash"
            throw PluginError(.invalid, message, domain: "pushgateway")
        }
    }

    var status: HTTPRequest { HTTPRequest(.get, endpoint.appending(path: "/api/v1/status")) }
    /// Asks the gateway itself: counts from a cache may be lower than those that it has.
    var metrics: HTTPRequest {
        HTTPRequest(.get, endpoint.appending(path: "/api/v1/metrics"), headers: ["Cache-Control": "no-cache"])
    }

    /// A push, which replaces the group's counts and leaves its other metrics alone.
    func push(_ counters: PushedCounters) -> HTTPRequest {
        let url = group.reduce(endpoint.appending(path: "/metrics")) { $0.appending($1.name, $1.value) }
        let type = "text/plain; version=0.0.4; charset=utf-8"
        return HTTPRequest(.post, url, headers: ["Content-Type": type], body: Array(counters.text.utf8))
    }
}
