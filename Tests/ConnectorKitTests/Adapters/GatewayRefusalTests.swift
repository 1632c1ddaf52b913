// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization
internal import Testing

/// No adapter turns events into dead letters because of what a gateway before its vendor refuses.
@Suite struct GatewayRefusalTests {
    /// Stands before a vendor, and refuses everything from a time on.
    private final class Gateway: HTTPService {
        private let vendor: SimulatedHTTP
        private let refusal = Mutex<HTTPResponse?>(nil)

        init(before vendor: SimulatedHTTP) {
            self.vendor = vendor
        }

        func refuse(_ status: Int, _ body: Body) {
            let response = HTTPResponse(
                status: status,
                headers: ["Content-Type": body.type],
                body: Array(body.text.utf8)
            )
            refusal.withLock { $0 = response }
        }

        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            if let response = refusal.withLock({ $0 }) { return response }
            return try await vendor.send(request)
        }
    }

    /// What a server refuses a request with.
    struct Body: Sendable, CustomTestStringConvertible {
        var type: String
        var text: String

        var testDescription: String { text.isEmpty ? "nothing" : text }

        static func text(_ text: String) -> Self { Self(type: "text/plain; charset=utf-8", text: text) }
        static func page(_ text: String) -> Self { Self(type: "text/html", text: text) }
        static func json(_ text: String) -> Self { Self(type: "application/json", text: text) }
    }

    private static let problem = #"{"type":"about:blank","title":"Bad Request","status":400,"detail":"no"}"#

    /// The refusals of common gateways, frameworks and balancers.
    private static let bodies: [Body] = [
        // Envoy.
        .text("Payload Too Large"), .text(""), .text("Bad Request"),
        // nginx.
        .page("<html>\r\n<head><title>413 Request Entity Too Large</title></head>"),
        // AWS API Gateway, Kong.
        .json(#"{"message":"Request Too Long"}"#),
        .json(#"{"message":"no Route matched with those values","request_id":"1"}"#),
        // vmauth.
        .text("cannot determine targetURL: missing route for \"/api/v1/import\""),
        // RFC 9457.
        Body(type: "application/problem+json", text: problem), .json(problem),
        // FastAPI.
        .json(#"{"detail":[{"loc":["body"],"msg":"field required","type":"value_error.missing"}]}"#),
        // Others.
        .json(#"{"code":400,"message":"Bad Request"}"#), .json(#"{"error":"Bad Request"}"#),
        .json(#"{"errors":[{"message":"Bad Request"}]}"#), .json("{}"), .json("[]"),
        .json(#"{"status":"error","message":"no","statusCode":400}"#),
    ]

    /// Delivers two events, or one report, to a vendor that refuses everything once the adapter is ready.
    private func deliver(_ exercise: AdapterExercise, _ status: Int, _ body: Body) async throws -> [DeliveryAnswer] {
        var between: Gateway?
        let (plugin, _) = try exercise.adapter { vendor in
            let gateway = Gateway(before: vendor)
            between = gateway
            return gateway
        }
        let gateway = try #require(between)
        let operation = try await exercise.prepare(plugin)
        gateway.refuse(status, body)
        guard case .deliveries(let answers) = try await operation() else { return [] }
        return answers
    }

    @Test(arguments: AdapterExercise.all.filter { $0.name == "deliver" }, bodies)
    func `an event that a gateway refuses waits`(_ exercise: AdapterExercise, _ body: Body) async throws {
        for status in [400, 413, 422] {
            do {
                let answers = try await deliver(exercise, status, body)
                #expect(!answers.isEmpty && answers.allSatisfy { $0.outcome == .retry }, "HTTP \(status): \(answers)")
            } catch let error as PluginError {
                #expect(error.isRetryable, "HTTP \(status): \(error.message)")
            }
        }
    }

    @Test(arguments: [
        ("segment", Body.json(#"{"code":"payload_too_large","message":"no"}"#)),
        ("posthog", .text("maximum event size exceeded: 1")), ("amplitude", .json(#"{"code":413,"error":"no"}"#)),
        ("mixpanel", .json(#"{"code":413,"error":"no","status":"Request Entity Too Large"}"#)),
        ("influxdb", .json(#"{"code":"request too large","message":"points batch is too large"}"#)),
        ("sentry", .json(#"{"detail":"envelope exceeded size limits"}"#)), ("bugsnag", .json(#"{"errors":["no"]}"#)),
        ("rollbar", .json(#"{"err":1,"message":"no"}"#)),
    ])
    func `an event that its vendor itself calls too large is rejected`(_ vendor: String, _ body: Body) async throws {
        let exercises = AdapterExercise.all.filter { $0.vendor == vendor && $0.name == "deliver" }
        let answers = try await deliver(try #require(exercises.first), 413, body)
        #expect(!answers.isEmpty && answers.allSatisfy { $0.outcome == .rejected && $0.code == .tooLarge })
    }
}
