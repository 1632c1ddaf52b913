// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import InMemoryTracing
import Testing
import Tracing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The spans of calls and deliveries. A process has one tracer, so each test has a process of its own.
@Suite struct CallTracingTests {
    @Test func `a call has a span, each child of a composite one of its own, and a request is a child of its call`()
        async
    {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            let server = LoopbackServer { _ in .response(200) }
            let test = try TestHost(
                TestHost.composite(
                    "group",
                    "all",
                    TestHost.leaf("a", plugin: "http", ["endpoint": .string(server.url("/"))])
                )
            )
            await test.host.open()
            InstrumentationSystem.bootstrap(tracer)
            try await tracer.withSpan("caller") { _ in _ = try await test.call("group", "twice") }
            let spans = tracer.finishedSpans
            func span(_ name: String) throws -> FinishedInMemorySpan {
                try #require(spans.first { $0.operationName == name })
            }
            let (caller, whole, leaf) = (
                try span("caller"), try span("fetch/twice group"), try span("fetch/twice group/a")
            )
            #expect(whole.parentSpanID == caller.spanID && whole.kind == .internal)
            #expect(leaf.parentSpanID == whole.spanID && leaf.kind == .client)
            #expect(leaf.attributes.get("connector.path") == "group/a")
            #expect(leaf.attributes.get("connector.operation") == "fetch/twice")
            let requests = spans.filter { $0.operationName == "GET" }
            #expect(requests.count == 2, "the second one was sent from the callback of the first")
            #expect(requests.allSatisfy { $0.parentSpanID == leaf.spanID })
            #expect(tracer.activeSpans.isEmpty)
            await test.host.close()
            server.stop()
        }
    }

    @Test func `a call that fails says so in its span, without secrets or arguments`() async {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            let test = try TestHost(
                TestHost.leaf("a", ["key": ["secret": "env:KEY"], "replies": "s3cr3t/+", "fails": "s3cr3t/+"]),
                environment: ["KEY": "s3cr3t/+"]
            )
            await test.host.open()
            _ = try await failure { () throws(ConnectorError) in try await test.call("a", "refuse", ["status": 3]) }
            _ = try? await test.call("a", "answer", ["value": "pr1vate"])
            _ = try? await test.call("a", "inv3nted", ["value": "pr1vate"])
            let span = try #require(tracer.finishedSpans.first { $0.operationName == "calls/refuse a" })
            #expect(span.status == SpanStatus(code: .error) && span.errors.isEmpty)
            #expect(span.attributes.get("error.type") != nil)
            #expect(tracer.finishedSpans.contains { $0.operationName == "_OTHER a" })
            let texts = tracer.finishedSpans.map { span in
                "\(span.operationName) \(span.attributes) \(span.errors) \(String(describing: span.status))"
            }
            for word in ["s3cr3t", "pr1vate", "inv3nted"] { #expect(!texts.contains { $0.contains(word) }) }
            await test.host.close()
        }
    }

    @Test func `a delivery is the root of its own trace, whoever sent the events`() async {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            let settings = #""probe": "off", "outbox": {"batch": {"count": 1}}"#
            let test = try TestHost(TestHost.leaf("a", plugin: "deliveries", settings: settings))
            await test.host.open()
            try await tracer.withSpan("caller") { _ in _ = try await test.host.analytics("a").track("Seen") }
            _ = await test.host.report { $0["a"]?.outbox?.delivered == 1 }
            await test.host.close()
            let delivery = try #require(tracer.finishedSpans.first { $0.operationName == "deliver a" })
            #expect(delivery.parentSpanID == nil && delivery.kind == .producer)
            #expect(delivery.attributes.get("messaging.batch.message_count") == 1)
            let call = try #require(tracer.finishedSpans.first { $0.operationName == "analytics/deliver a" })
            #expect(call.parentSpanID == delivery.spanID)
        }
    }

    @Test func `a typed asynchronous call has a span where there is a tracer`() async {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            let test = try TestHost(TestHost.leaf("forms", plugin: "forms"))
            await test.host.open()
            let text = try test.host.gate("forms").typed(
                "texts1",
                "(a: string) async -> json",
                as: OperationFunction.Texts1.self
            )
            _ = try await text("x")
            #expect(tracer.finishedSpans.map(\.operationName) == ["texts1 forms"])
            await test.host.close()
        }
    }

    @Test(arguments: ["pass", "passLater"])
    func `a call of a used gate is a child of the call that made it`(_ operation: String) async {
        await #expect(processExitsWith: .success) { [operation] in
            let tracer = InMemoryTracer()
            let test = try TestHost(
                TestHost.leaf("user", plugin: "uses", settings: #""probe": "off", "with": {"inner": "inner"}"#),
                TestHost.leaf("inner")
            )
            await test.host.open()
            InstrumentationSystem.bootstrap(tracer)
            var arguments: JSONObject = ["operation": "answer", "arguments": ["value": 1]]
            if operation == "pass" { arguments["use"] = "inner" }
            #expect(try await test.call("user", operation, arguments) == 1)
            let spans = tracer.finishedSpans
            let outer = try #require(spans.first { $0.operationName == "uses/\(operation) user" })
            let inner = try #require(spans.first { $0.operationName == "calls/answer inner" })
            #expect(inner.parentSpanID == outer.spanID)
            #expect(tracer.activeSpans.isEmpty)
            await test.host.close()
        }
    }
}
