// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorTestSupport
internal import Synchronization
internal import Testing

/// The line between the C ABI and an author's type.
@Suite(.timeLimit(.minutes(5))) struct LineTests {
    @Test func `an operation that never suspends completes before it returns`() {
        let host = LineHost()
        let instance = LineInstance(host)
        #expect(instance.open(7) == 0)
        #expect(
            host.completions == [
                .init(operation: 7, status: 0, result: #"[{"kind":"reachable","detail":"here"}]"#)
            ]
        )
    }

    @Test func `a batch may hold an event that is as deep as any value`() throws {
        let levels = JSONParser.depthLimit + 1
        let text = Array((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8)
        let batch: JSONValue = try Line.argument(text, "events")
        #expect(batch == .array([try JSONValue(parsing: Array(text.dropFirst().dropLast()))]))
    }

    @Test func `an argument may be as deep as any value, and no deeper`() {
        let host = LineHost()
        let instance = LineInstance(host)
        func text(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        let deepest = text(JSONParser.depthLimit)
        #expect(instance.take(1, json: deepest) == 0)
        #expect(host.completions == [.init(operation: 1, status: 0, result: deepest)])
        #expect(instance.take(2, json: text(JSONParser.depthLimit + 1)) == PluginStatus.invalid.rawValue)
        #expect(instance.message == "argument:1:129: nested deeper than 128 levels")
        #expect(host.completions.count == 1)
    }

    @Test func `a constructor that throws makes no instance and says why`() {
        let instance = LineInstance(LineHost(), configuration: #"{"refuse":true}"#)
        #expect(instance.status == PluginStatus.invalid.rawValue)
        #expect(instance.message == "refused")
    }

    @Test func `what a throwing constructor has started can no longer use the host`() async throws {
        let host = LineHost()
        let instance = LineInstance(host, configuration: #"{"refuse":true}"#)
        #expect(instance.status == PluginStatus.invalid.rawValue)
        let last = LinePlugin.refused.withLock { $0 }
        let kept = try #require(last)
        let request = HTTPRequest(.get, try #require(HTTPURL("http://vendor.example/")))
        let error = await #expect(throws: PluginError.self) { try await kept.http.send(request) }
        #expect(error?.status == .notOpen && host.lastRequest == nil)
    }

    @Test(arguments: ["", "{", "[]", "\"text\"", "nul"])
    func `a configuration that is not an object is refused`(_ text: String) {
        let instance = LineInstance(LineHost(), configuration: text)
        #expect(instance.status != 0)
        #expect(!instance.message.isEmpty)
    }

    @Test func `an argument that is not JSON ends the call without a completion`() {
        let host = LineHost()
        let instance = LineInstance(host)
        #expect(instance.take(1, json: "{\"a\":}") == PluginStatus.invalid.rawValue)
        #expect(instance.message.hasPrefix("argument:1:6:"))
        #expect(host.completions.isEmpty)
    }

    @Test func `an argument arrives as a value`() {
        let host = LineHost()
        let instance = LineInstance(host)
        #expect(instance.take(1, json: #"{"a": [1, "é"]}"#) == 0)
        #expect(host.completions.first?.result == #"{"a":[1,"é"]}"#)
    }

    @Test func `a request suspends the operation until the host answers`() async {
        let host = LineHost()
        let instance = LineInstance(host)
        #expect(instance.ask(3, deadline: 99) == 0)
        #expect(host.completions.isEmpty)
        #expect(host.lastRequest?.url == "http://vendor.example/ask")
        #expect(host.lastRequest?.body == "question")
        // CONNECTOR_HTTP_VERBATIM_BODY and CONNECTOR_HTTP_KEEP_METHOD of http.h.
        #expect(host.lastRequest?.flags == 9)
        #expect(host.lastRequest?.deadline == 99)
        host.answer(1, status: 200, body: #"{"is":"so"}"#)
        await host.news()
        #expect(host.completions == [.init(operation: 3, status: 0, result: #"{"is":"so"}"#)])
    }

    @Test func `a task that outlives its call has no deadline`() async throws {
        let host = LineHost()
        let instance = LineInstance(host)
        let signal = OneShot<Void>()
        #expect(instance.leave(3, deadline: 99, asking: signal) == 0)
        #expect(host.completions.map(\.operation) == [3])
        signal.send()
        while host.lastRequest == nil { try await Task.checkedYield() }
        #expect(host.lastRequest?.deadline == .max)
        host.answer(1, status: 200, body: "1")
    }

    @Test func `a task that an operation has left behind calls used gates on its own account`() async throws {
        let gates = LineGates()
        let host = LineHost(gates: gates)
        let instance = LineInstance(host)
        let signal = OneShot<Void>()
        #expect(instance.use(3, again: signal) == 0)
        await host.news()
        #expect(gates.served == [0])
        signal.send()
        while gates.served.count < 2 { try await Task.checkedYield() }
        #expect(gates.served == [0, .max])
    }

    @Test func `an answer that is not JSON breaks the protocol, with its beginning`() async {
        let host = LineHost()
        let instance = LineInstance(host)
        _ = instance.ask(3)
        host.answer(1, status: 200, body: "<html>")
        await host.news()
        #expect(host.completions.first?.status == PluginStatus.protocolViolation.rawValue)
        #expect(host.completions.first?.message.contains("<html>") == true)
    }

    @Test func `an operation that the host cancels cancels its request and never completes`() async {
        let host = LineHost()
        let instance = LineInstance(host)
        _ = instance.ask(3)
        instance.cancel(3)
        instance.cancel(3)
        instance.cancel(4)
        #expect(host.cancelled == [1])
        _ = instance.ask(5)
        host.answer(2, status: 200, body: "1")
        await host.news()
        #expect(host.completions.map(\.operation) == [5])
    }

    @Test func `what a call has begun ends if its answer reaches nobody, and otherwise stays`() async throws {
        let host = LineHost()
        let instance = LineInstance(host)
        let (late, cancelled, claimed) = (OneShot<Void>(), OneShot<Void>(), OneShot<Void>())
        host.giveUp(3)
        _ = instance.begin(3, ending: late)
        host.answer(1, status: 200, body: "1")
        await late.wait()
        #expect(host.completions.map(\.operation) == [3])
        _ = instance.begin(4, ending: cancelled)
        instance.cancel(4)
        await cancelled.wait()
        _ = instance.begin(5, ending: claimed)
        host.answer(3, status: 200, body: "1")
        while host.completions.count < 2 { try await Task.checkedYield() }
        #expect(host.completions.last == .init(operation: 5, status: 0, result: "key"))
        #expect(claimed.value == nil)
    }

    @Test func `an instance that is destroyed cancels its requests and never completes`() {
        let host = LineHost()
        let instance = LineInstance(host)
        _ = instance.ask(3)
        instance.destroy()
        #expect(host.cancelled == [1])
        #expect(host.completions.isEmpty)
    }

    @Test func `closing completes without a result`() {
        let host = LineHost()
        let instance = LineInstance(host)
        #expect(instance.close(5) == 0)
        #expect(host.completions == [.init(operation: 5, status: 0, result: nil)])
    }

    @Test func `many concurrent operations complete once each`() async throws {
        let host = LineHost()
        let instance = LineInstance(host)
        for operation in 1...100 as ClosedRange<UInt64> { _ = instance.ask(operation) }
        for request in 1...100 as ClosedRange<UInt64> {
            if request % 3 == 0 { instance.cancel(request) } else { host.answer(request, status: 200, body: "1") }
        }
        while host.completions.count < 67 { try await Task.checkedYield() }
        #expect(Set(host.completions.map(\.operation)) == Set((1...100).filter { $0 % 3 != 0 }))
        #expect(host.cancelled.count == 33)
    }
}
