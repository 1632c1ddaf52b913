// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import InMemoryTracing
import Testing
import Tracing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The spans of requests. A process has one tracer, so each test has a process of its own.
@Suite struct HTTPTracingTests {
    @Test func `a request has one span, without the secret and the query, and the vendor is not told of it`() async {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            let server = LoopbackServer { _ in .response(404) }
            let plugin = PluginSide(secrets: ["key": "s3cr3t/+"])
            let end = await plugin.request("GET", server.url("/geo?key={{secret:key}}&also=s3cr3t%2F%2B"))
            #expect(end.code == 404)
            let spans = tracer.finishedSpans
            #expect(spans.map(\.operationName) == ["GET"])
            #expect(spans.first?.kind == .client)
            #expect(spans.first?.status?.code == .error)
            #expect(!spans.contains { "\($0)".contains("s3cr3t") })
            let attributes = spans.first?.attributes
            #expect(attributes?.get("url.full") == .string(server.url("/geo")))
            #expect(attributes?.get("server.address") == "127.0.0.1")
            #expect(attributes?.get("server.port") == .int64(Int64(server.port)))
            #expect(attributes?.get("http.response.status_code") == 404)
            #expect(attributes?.get("error.type") == "404")
            #expect(attributes?.get("connector.path") == "analytics/segment")
            #expect(server.requests.first?.line == "GET /geo?key=s3cr3t%2F%2B&also=s3cr3t%2F%2B HTTP/1.1")
            #expect(
                server.requests.first?.fields.keys.contains { $0.contains("trace") || $0.contains("span") } == false
            )
            #expect(tracer.performedContextInjections.isEmpty)
            server.stop()
        }
    }

    @Test func `a connector that allows it passes the trace on`() async {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            let server = LoopbackServer { _ in .response(204) }
            let plugin = PluginSide(propagatesTrace: true)
            let (end, trace) = await tracer.withSpan("caller") { span in
                (await plugin.request("GET", server.url("/")), span.context.inMemorySpanContext?.traceID)
            }
            #expect(end.code == 204)
            let fields = server.requests.first?.fields
            #expect(trace != nil && fields?[InMemoryTracer.traceIDKey] == trace)
            #expect(tracer.finishedSpans.map(\.operationName) == ["GET", "caller"])
            #expect(tracer.finishedSpans.first?.attributes.get("error.type") == nil)
            #expect(Set(tracer.finishedSpans.map(\.traceID)).count == 1)
            server.stop()
        }
    }

    @Test func `a request that fails ends its span without the secret`() async {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            let server = LoopbackServer { _ in .raw("s3cr3t/+\r\n\r\n") }
            let plugin = PluginSide(secrets: ["key": "s3cr3t/+"])
            let end = await plugin.request("POST", server.url("/{{secret:key}}"))
            #expect(end.status != CONNECTOR_OK)
            #expect(tracer.finishedSpans.map(\.status?.code) == [.error])
            #expect(tracer.finishedSpans.first?.attributes.get("url.full") == .string(server.url("/•••")))
            let code = ConnectorError.Code(abiStatus: end.status)?.rawValue ?? ""
            #expect(tracer.finishedSpans.first?.attributes.get("error.type") == .string(code))
            #expect(tracer.activeSpans.isEmpty)
            #expect(!tracer.finishedSpans.contains { "\($0.attributes) \($0.errors)".contains("s3cr3t") })
            server.stop()
        }
    }

    @Test func `the file says whether a connector passes the trace on`() throws {
        let leaf = #"{"name": "a", "plugin": "p", "http": {"propagateTrace": true}}, {"name": "b", "plugin": "p"}"#
        let read = try Configuration(parsing: #"{"version": 1, "connectors": [\#(leaf)]}"#)
        #expect(read.connectors.map(\.propagatesTrace) == [true, false])
        for wrong in ["true", #"{"propagate": true}"#, #"{"propagateTrace": "yes"}"#] {
            let text = #"{"version": 1, "connectors": [{"name": "a", "plugin": "p", "http": \#(wrong)}]}"#
            #expect(throws: ConfigurationErrors.self) { try Configuration(parsing: text) }
        }
    }
}
