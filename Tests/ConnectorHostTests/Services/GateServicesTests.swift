// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Which tables a plugin gets, and what becomes of what is under way when its gate closes.
@Suite struct GateServicesTests {
    @Test func `a table stays at one address as long as the gate lives`() throws {
        let gate = PluginSide().gate
        let first = try unsafe #require(gate.table(named: "http/1"))
        #expect(unsafe gate.table(named: "http/1") == first)
        #expect(unsafe gate.table(named: "log/1") != first)
        gate.invalidate()
        #expect(unsafe gate.table(named: "http/1") == nil)
    }

    @Test func `a service that the manifest does not name is unavailable`() {
        let gate = PluginSide(services: ["log/1", "teleport/1"]).gate
        #expect(unsafe gate.table(named: "log/1") != nil)
        #expect(unsafe gate.table(named: "http/1") == nil)
        #expect(unsafe gate.table(named: "teleport/1") == nil)
    }

    @Test(arguments: [
        [], [0xFF], Array("http/1\0".utf8), Array("HTTP/1".utf8), [UInt8](repeating: 0x61, count: 100_000),
    ])
    func `a service's id of arbitrary bytes is merely unknown`(id: [UInt8]) {
        let gate = PluginSide().gate
        #expect(unsafe id.withUnsafeBytes { unsafe gate.table($0) } == nil)
    }

    @Test func `every service says its own size`() throws {
        let plugin = PluginSide()
        #expect(try unsafe #require(plugin.http).pointee.struct_size == MemoryLayout<connector_http>.size)
        #expect(try unsafe #require(plugin.clock).pointee.struct_size == MemoryLayout<connector_clock>.size)
        #expect(try unsafe #require(plugin.logTable).pointee.struct_size == MemoryLayout<connector_log>.size)
    }

    @Test func `a gate that is released before it is invalidated keeps its tables`() throws {
        weak var gate: GateServices?
        var table: UnsafePointer<connector_clock>?
        do {
            let plugin = PluginSide()
            gate = plugin.gate
            unsafe table = plugin.clock
        }
        let clock = try unsafe #require(table).pointee
        #expect(unsafe clock.monotonic_ns(clock.context) > 0)
        gate?.invalidate()
        #expect(gate == nil)
    }

    @Test func `whoever still holds the services when the instance ends may use its tables`() throws {
        let host = HostServices(options: .init(clock: ManualHostClock(now: .nanoseconds(10))))
        let gate = PluginSide(host: host).gate
        let table = try unsafe #require(gate.table(named: "clock/1"))
        gate.invalidate()
        #expect(unsafe gate.table(named: "clock/1") == nil)
        let clock = unsafe table.assumingMemoryBound(to: connector_clock.self).pointee
        // The gate's own time, and not that of the system.
        #expect(unsafe clock.monotonic_ns(clock.context) == 10)
        withExtendedLifetime(gate) {}
    }

    @Test func `a request that is under way ends as cancelled when the gate closes`() async {
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let plugin = PluginSide()
        let started = CallCounter()
        async let end = plugin.request("GET", server.url(), onStart: { _ in started.add() })
        await started.reaches(1)
        await plugin.gate.stopAndAwaitCallbacks()
        let result = await end
        #expect(result.status == CONNECTOR_CANCELLED)
        #expect(result.isDone)
        #expect(await plugin.request("GET", server.url()).status == CONNECTOR_NOT_OPEN)
    }

    @Test func `a request has its id before the gate accepts it, and so before it can end`() async {
        let plugin = PluginSide()
        await plugin.gate.stopAndAwaitCallbacks()
        var name: UInt64 = 0
        let end = await plugin.request("GET", "http://127.0.0.1:1/", onName: { name = $0 })
        #expect(end.status == CONNECTOR_NOT_OPEN)
        #expect(name != 0)
    }

    @Test func `closing waits for a callback that is running`() async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let plugin = PluginSide()
        let entered = CallCounter()
        let order = Journal<String>()
        async let end = plugin.request(
            "GET",
            server.url(),
            onDone: {
                entered.add()
                // A plugin that breaks the rules and blocks, until the test has begun to close.
                while order.values.isEmpty {}
                order.note("done")
            }
        )
        await entered.reaches(1)
        async let closed: Void = {
            order.note("closing")
            await plugin.gate.stopAndAwaitCallbacks()
            order.note("closed")
        }()
        await closed
        _ = await end
        #expect(order.values == ["closing", "done", "closed"])
    }

    @Test func `a gate that closes twice or without anything under way returns`() async {
        let gate = PluginSide().gate
        await gate.stopAndAwaitCallbacks()
        await gate.stopAndAwaitCallbacks()
        gate.invalidate()
        gate.invalidate()
        #expect(unsafe gate.table(named: "log/1") == nil)
    }

    @Test func `a cancelled request ends once, as cancelled`() async throws {
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let plugin = PluginSide()
        let table = try unsafe #require(plugin.http).pointee
        let end = await plugin.request(
            "GET",
            server.url(),
            onStart: { id in
                unsafe table.cancel(table.context, id)
                unsafe table.cancel(table.context, id)
                unsafe table.cancel(table.context, id &+ 1)
            }
        )
        #expect(end.status == CONNECTOR_CANCELLED)
        #expect(end.isDone)
    }

    @Test func `cancel, answer, deadline and close race, and each request ends once`() async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        for _ in 0..<20 {
            let plugin = PluginSide()
            let dones = CallCounter()
            let ends = await withTaskGroup(of: RequestEnd?.self) { group in
                for index in 0..<20 {
                    group.addTask {
                        await plugin.request(
                            "GET",
                            server.url(),
                            deadline: index % 3 == 0 ? SystemTime.monotonic() + 500_000 : .max,
                            onStart: { id in
                                guard index % 3 == 1, let http = unsafe plugin.http?.pointee else { return }
                                unsafe http.cancel(http.context, id)
                            },
                            onDone: { dones.add() }
                        )
                    }
                }
                group.addTask {
                    await plugin.gate.stopAndAwaitCallbacks()
                    return nil
                }
                return await group.reduce(into: [RequestEnd]()) { if let end = $1 { $0.append(end) } }
            }
            #expect(ends.count == 20)
            #expect(dones.count == ends.count { $0.isDone })
            plugin.gate.invalidate()
        }
    }

    @Test func `the arguments of a gate's calls in progress are bounded together`() async throws {
        var options = HostServices.Options()
        options.argumentsLimit = 100
        let mayAnswer = OneShot<Void>()
        let gates = UsedGates(["it"]) { _ in
            await mayAnswer.wait()
            return .success([])
        }
        let plugin = PluginSide(host: HostServices(options: options), gates: gates)
        let ends = CallCounter()
        let done: connector_gates_done = { user, _, _, _, _ in unsafe CallCounter.fire(user) }
        func call(_ id: UInt64, size: Int) throws(ServiceFailure) {
            let text = "[\"\(String(repeating: "x", count: size - 20))\"]"
            let call = GateCallTemplate(use: "it", operation: "get", arguments: Array(text.utf8))
            #expect(call.parsedSize == size)
            try plugin.gate.startCall(id, call, unsafe GatesCallback(done, user: ends.pointer))
        }
        try call(1, size: 60)
        let refusal = #expect(throws: ServiceFailure.self) { try call(2, size: 41) }
        #expect(refusal?.status == CONNECTOR_RATE_LIMITED && refusal?.isRetryable == true)
        mayAnswer.send()
        await ends.reaches(1)
        // What has ended makes room.
        try call(3, size: 100)
        await ends.reaches(2)
        await plugin.gate.stopAndAwaitCallbacks()
    }

    @Test func `arguments count for what their values occupy, and are parsed once they have room`() async throws {
        var options = HostServices.Options()
        options.argumentsLimit = 100
        let gates = UsedGates(["it"]) { _ in .success([]) }
        let plugin = PluginSide(host: HostServices(options: options), gates: gates)
        let ends = CallCounter()
        let done: connector_gates_done = { user, _, _, _, _ in unsafe CallCounter.fire(user) }
        func call(_ use: String, _ arguments: String) throws(ServiceFailure) {
            let call = GateCallTemplate(use: use, operation: "get", arguments: Array(arguments.utf8))
            try plugin.gate.startCall(ServiceIdentifier.next(), call, unsafe GatesCallback(done, user: ends.pointer))
        }
        // None of these is JSON.
        let tooLarge = #expect(throws: ServiceFailure.self) { try call("it", "[[[[[[[") }
        #expect(tooLarge?.status == CONNECTOR_RATE_LIMITED)
        let unknown = #expect(throws: ServiceFailure.self) { try call("other", "[") }
        #expect(unknown?.message.contains("does not name") == true)
        let invalid = #expect(throws: ServiceFailure.self) { try call("it", "[") }
        #expect(invalid?.message.contains("not JSON") == true)
        #expect(ends.count == 0)
        // What was refused has left all its room.
        try call("it", "[\"\(String(repeating: "x", count: 80))\"]")
        await ends.reaches(1)
        await plugin.gate.stopAndAwaitCallbacks()
    }

    @Test func `a misused request gets a status`() throws {
        typealias Request =
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafePointer<connector_http_request>?, connector_http_done?,
                UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<connector_error>?
            ) -> Int32
        let plugin = PluginSide()
        let table = try unsafe #require(plugin.http).pointee
        let send = unsafe unsafeBitCast(table.request, to: Request.self)
        let done: connector_http_done = { _, _, _, _ in }
        let text = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 8)
        unsafe text.initialize(repeating: 0x61)
        defer { unsafe text.deallocate() }
        let start = try unsafe UnsafePointer(#require(text.baseAddress))
        var request = unsafe connector_http_request(
            struct_size: UInt32(MemoryLayout<connector_http_request>.size),
            flags: 0,
            method: start,
            method_length: 3,
            url: start,
            url_length: 8,
            headers: nil,
            header_count: 0,
            body: nil,
            body_length: 0,
            deadline_ns: .max,
            during: 0
        )
        var id: UInt64 = 0
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)

        #expect(unsafe send(nil, &request, done, nil, &id, &error) == CONNECTOR_MISUSE)
        #expect(unsafe send(table.context, nil, done, nil, &id, &error) == CONNECTOR_MISUSE)
        #expect(unsafe send(table.context, &request, nil, nil, &id, &error) == CONNECTOR_MISUSE)
        #expect(unsafe send(table.context, &request, done, nil, nil, &error) == CONNECTOR_MISUSE)
        #expect(unsafe send(table.context, &request, done, nil, &id, nil) == CONNECTOR_INVALID)
        unsafe request.url_length = .max
        #expect(unsafe send(table.context, &request, done, nil, &id, &error) == CONNECTOR_TOO_LARGE)
        unsafe request.url_length = 8
        unsafe request.body_length = .max
        #expect(unsafe send(table.context, &request, done, nil, &id, &error) == CONNECTOR_TOO_LARGE)
        unsafe request.body_length = 1
        #expect(unsafe send(table.context, &request, done, nil, &id, &error) == CONNECTOR_MISUSE)
        unsafe request.body_length = 0
        unsafe request.header_count = 1
        #expect(unsafe send(table.context, &request, done, nil, &id, &error) == CONNECTOR_MISUSE)
        unsafe request.header_count = 0
        unsafe request.struct_size = 4
        #expect(unsafe send(table.context, &request, done, nil, &id, &error) == CONNECTOR_MISUSE)
        #expect(error.code == CONNECTOR_MISUSE)
    }

    @Test(arguments: [0, 4, 8, 60, 1024, 4096])
    func `an error object is filled in only as far as its struct_size reaches`(size: UInt32) {
        var error = connector_error()
        error.struct_size = size
        let status = unsafe ServiceFailure.denied("no").write(to: &error)
        #expect(status == CONNECTOR_DENIED)
        #expect(error.struct_size == size)
        #expect(error.code == (size >= 8 ? Int32(CONNECTOR_DENIED) : 0))
        #expect(error.message.0 == (size >= 57 ? 0x6E : 0))
    }

    @Test func `a failure that travels as an error object arrives as it was`() {
        let failure = ServiceFailure(
            status: Int32(CONNECTOR_UNAVAILABLE),
            message: "no connection to é",
            domain: "errno",
            detail: 111,
            isRetryable: true,
            retryAfter: 5
        )
        #expect(ServiceFailure(status: failure.status, failure.error) == failure)
    }

    @Test func `a failure that travels without an error object has a message all the same`() {
        let failure = ServiceFailure(status: Int32(CONNECTOR_TOO_LARGE), nil)
        #expect(failure.message.contains("status \(CONNECTOR_TOO_LARGE)"))
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        let status = unsafe failure.write(to: &error)
        #expect(status == CONNECTOR_TOO_LARGE && error.code == CONNECTOR_TOO_LARGE)
        #expect(error.message.0 != 0)
    }

    @Test func `a long message is cut between characters`() {
        let error = ServiceFailure.denied(String(repeating: "é", count: 1000)).error
        let bytes = unsafe withUnsafeBytes(of: error.message) { unsafe Array($0.prefix { $0 != 0 }) }
        #expect(bytes.count == 966)
        #expect(String(validating: bytes, as: UTF8.self) != nil)
    }
}
