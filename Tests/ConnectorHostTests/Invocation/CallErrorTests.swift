// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a caller is told of a call that failed, or was never made.
@Suite(.timeLimit(.minutes(10))) struct CallErrorTests {
    private let name = TestHost.unique()

    @Test(arguments: [
        (ENOSPC, "free space"), (EDQUOT, "free space"), (EROFS, "writable"), (EMFILE, "open files"),
        (ECONNREFUSED, nil),
    ])
    func `an error of this system that a plugin passes on says what to do about it`(number: Int32, remedy: String?) {
        var object = connector_error()
        object.struct_size = UInt32(MemoryLayout<connector_error>.size)
        object.detail = number
        unsafe withUnsafeMutableBytes(of: &object.domain) { unsafe $0.copyBytes(from: "errno".utf8) }
        let error = ConnectorError(status: Int32(CONNECTOR_UNAVAILABLE), error: object, attempting: "set")
        #expect(error.code == .unavailable && error.cause == "errno \(number)")
        #expect((error.fix == nil) == (remedy == nil))
        #expect(error.fix?.contains(remedy ?? "") ?? true)
    }

    @Test(arguments: [("proxy", "https_proxy"), ("tls", "certificate"), ("http", nil)])
    func `an error of the proxy or of TLS that a plugin passes on says where to look`(domain: String, remedy: String?) {
        var object = connector_error()
        object.struct_size = UInt32(MemoryLayout<connector_error>.size)
        unsafe withUnsafeMutableBytes(of: &object.domain) { unsafe $0.copyBytes(from: domain.utf8) }
        let error = ConnectorError(status: Int32(CONNECTOR_UNAVAILABLE), error: object, attempting: "set")
        #expect((error.fix == nil) == (remedy == nil))
        #expect(error.fix?.contains(remedy ?? "") ?? true)
    }

    @Test(
        arguments: [
            ("acme", 507, "make room"), ("acme", 423, "unlocks it"), ("acme", 503, nil), ("http", 507, nil),
            ("", 423, nil),
        ] as [(String, Int32, String?)]
    )
    func `a vendor's status that means more than its code says what to do`(
        domain: String,
        detail: Int32,
        remedy: String?
    ) {
        var object = connector_error()
        object.struct_size = UInt32(MemoryLayout<connector_error>.size)
        object.detail = detail
        unsafe withUnsafeMutableBytes(of: &object.domain) { unsafe $0.copyBytes(from: domain.utf8) }
        let error = ConnectorError(status: Int32(CONNECTOR_UNAVAILABLE), error: object, attempting: "put")
        #expect((error.fix == nil) == (remedy == nil))
        #expect(error.fix?.contains(remedy ?? "") ?? true)
    }

    @Test(arguments: [("host", false), ("acme", true), ("", true)])
    func `a refusal by the host that a plugin passes on blames no event`(domain: String, blamesEvent: Bool) {
        var object = connector_error()
        object.struct_size = UInt32(MemoryLayout<connector_error>.size)
        unsafe withUnsafeMutableBytes(of: &object.domain) { unsafe $0.copyBytes(from: domain.utf8) }
        let error = ConnectorError(status: Int32(CONNECTOR_INVALID), error: object, attempting: "deliver")
        #expect(DeliveryAnswer(error).outcome == (blamesEvent ? .rejected : .retry))
        var whole = ConnectorError(.invalid, "no child takes it")
        whole.outcomes = [CallOutcome("a", error: error)]
        #expect(DeliveryAnswer(whole).outcome == (blamesEvent ? .rejected : .retry))
        #expect(ServiceFailure(error).domain == (blamesEvent ? "gate" : "host"))
    }

    @Test func `a number without a source is the cause as it is`() {
        var object = connector_error()
        object.struct_size = UInt32(MemoryLayout<connector_error>.size)
        object.detail = 7
        #expect(ConnectorError(status: Int32(CONNECTOR_FAILED), error: object, attempting: "set").cause == "7")
    }

    @Test func `the error of a call that the plugin refuses has its status, message and number`() async throws {
        let test = try await TestHost.opened()
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("gate", "refuse", ["status": 6])
        }
        #expect(error.code == .conflict)
        #expect(error.message == "refused")
        #expect(error.cause == "fixture 418")
        #expect(error.connector == "gate")
    }

    @Test(
        arguments: [
            (1, "failed"), (2, "invalid"), (3, "unsupported"), (4, "unauthorized"), (5, "missing"), (6, "conflict"),
            (7, "rate-limited"), (8, "unavailable"), (9, "timed-out"), (10, "aborted"), (11, "denied"),
            (12, "too-large"),
            (13, "protocol"), (14, "not-open"), (99, "failed"), (-1, "failed"), (Int64(Int32.min), "failed"),
        ] as [(Int64, String)]
    )
    func `every status has a code, and an unknown one is a failure`(_ status: Int64, _ code: String) async throws {
        let test = try await TestHost.opened()
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("gate", "refuse", ["status": .integer(status)])
        }
        #expect(error.code.rawValue == code)
    }

    @Test func `the error of a call that fails later has what the plugin said`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate"), TestHost.leaf("other"))
        async let answer = failure { () throws(ConnectorError) in try await test.begin(name) }
        try await TestHost.taken(name)
        #expect(try await test.call("other", "fail", ["name": .string(name), "status": 7]) == 0)
        let error = try await answer
        #expect(error.code == .rateLimited)
        #expect(error.message == "it went wrong later")
        #expect(error.retryAfter == .seconds(3))
    }

    @Test(arguments: [0, 3, 24, 56, 60, 1024, .max] as [UInt32])
    func `no byte of an error is read beyond its struct_size`(_ size: UInt32) throws {
        // Between two pages, the second of which cannot be read.
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let mapping = unsafe mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        let memory = try unsafe #require(mapping)
        defer { unsafe munmap(memory, 2 * page) }
        try #require(unsafe mprotect(memory + page, page, PROT_NONE) == 0)
        let covered = size == .max ? 1024 : max(Int(size), 4)
        let start = unsafe memory + page - (covered + 7) / 8 * 8
        unsafe start.storeBytes(of: size, as: UInt32.self)
        if covered >= 12 { unsafe start.storeBytes(of: 1, toByteOffset: 8, as: UInt32.self) }
        if covered > 56 { unsafe memset(start + 56, 0x61, min(covered, 60) - 56) }
        let error = unsafe ConnectorError(
            status: 4,
            reading: start.assumingMemoryBound(to: connector_error.self),
            attempting: "work"
        )
        #expect(error.code == .unauthorized)
        #expect(error.isRetryable == (size >= 12))
        #expect(error.message == (covered > 56 ? "aaaa" : "work failed without an error message (status 4)"))
    }

    @Test func `a call of a gate that is not open names its state and the reason`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["opens": "refuses"]))
        let closed = try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") }
        #expect(closed.code == .notOpen)
        #expect(closed.message == "the gate is closed")
        await test.host.open()
        let failed = try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") }
        #expect(failed.message == "the gate has failed")
        #expect(failed.cause == "the vendor refused the credentials [unauthorized]")
    }

    @Test func `a call of a gate that has failed names the file and what to do, as the report does`() async throws {
        let test = try TestHost(TestHost.leaf("gate"))
        await test.host.open()
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        let position = FilePosition(file: "answers.json", line: 3, column: 7)
        let reason = ConnectorError(
            .syntax,
            "expected a value",
            fix: "write one",
            connector: "gate",
            position: position
        )
        gate.storage.withLock { $0.history.failed(reason, at: 0) }
        #expect(gate.refusal.cause == "answers.json:3:7: expected a value [syntax]")
        #expect(gate.refusal.fix == "write one")
        await test.host.close()
    }

    @Test func `for an unknown gate or operation a similar name is suggested`() async throws {
        let test = try await TestHost.opened()
        let gate = try await failure { () throws(ConnectorError) in try await test.call("gaet", "counts") }
        #expect(gate.code == .unknownConnector)
        #expect(gate.fix == "did you mean \"gate\"?")
        let operation = try await failure { () throws(ConnectorError) in try await test.call("gate", "count") }
        #expect(operation.code == .invalid)
        #expect(operation.fix == "did you mean \"counts\"?")
    }
}
