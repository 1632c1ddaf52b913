// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation

/// The breaker in front of calls through a plugin's own functions.
@Suite(.timeLimit(.minutes(5))) struct TypedBreakerTests {
    private static let breaker = #", "breaker": {"failures": 2, "window": "1m", "probe": "10s"}"#
    private static let signature = "(status: i64) -> i64"
    /// CONNECTOR_UNAVAILABLE and CONNECTOR_INVALID of error.h.
    private static let (unavailable, invalid): (Int64, Int64) = (8, 2)

    private func opened(_ channel: TestChannel) async throws -> TestHost {
        try await TestHost.opened(TestHost.leaf("gate", plugin: "crashes", settings: channel.settings + Self.breaker))
    }

    private func judge(_ test: TestHost) throws -> TypedOperation<OperationFunction.Integers1> {
        try test.host.gate("gate").typed("judge", Self.signature, as: OperationFunction.Integers1.self)
    }

    @Test(arguments: TestChannel.all)
    func `leases whose calls fail open the breaker, which refuses the next one`(_ channel: TestChannel) async throws {
        let test = try await opened(channel)
        let judge = try judge(test)
        for _ in 0..<2 {
            let error = try await failure { () throws(ConnectorError) in try await judge(Self.unavailable) }
            #expect(error.code == .unavailable && error.connector == "gate")
        }
        let refused = try await failure { () throws(ConnectorError) in try await judge(0) }
        #expect(refused.code == .notOpen && refused.message.contains("circuit breaker") && refused.connector == "gate")
        let byName = try await failure { () throws(ConnectorError) in
            try await test.call("gate", "judge", ["status": 0])
        }
        #expect(byName.code == .notOpen)
        #expect(try test.gate("gate").breaker?.refusals == 2)
        test.clock.advance(by: .seconds(10))
        #expect(try await judge(0) == 0)
        #expect(try test.gate("gate").breaker?.state == .closed)
        await test.host.close()
    }

    @Test func `a lease counts as one call, which failed if any of its calls did`() async throws {
        let test = try await opened(.here)
        let judge = try judge(test)
        for _ in 0..<2 {
            try await judge.withLease { lease throws(ConnectorError) in
                for status in [Self.unavailable, 0, Self.unavailable] { _ = try? lease(status) }
            }
        }
        #expect(try test.gate("gate").breaker?.state == .open)
        await test.host.close()
    }

    @Test func `a lease that is not admitted does not close the breaker`() async throws {
        let test = try await opened(.here)
        let judge = try judge(test)
        for _ in 0..<2 { _ = try await failure { () throws(ConnectorError) in try await judge(Self.unavailable) } }
        test.clock.advance(by: .seconds(10))
        try await test.host.close("gate")
        let error = try await failure { () throws(ConnectorError) in try await judge(0) }
        #expect(error.code == .notOpen && !error.message.contains("circuit breaker"))
        #expect(try test.gate("gate").breaker?.state != .closed)
        await test.host.close()
    }

    @Test func `mistakes of callers do not count`() async throws {
        let test = try await opened(.here)
        let judge = try judge(test)
        for _ in 0..<5 { _ = try await failure { () throws(ConnectorError) in try await judge(Self.invalid) } }
        #expect(try await judge(0) == 0)
        await test.host.close()
    }

    @Test(arguments: TestChannel.all)
    func `prepared calls are counted and refused one by one`(_ channel: TestChannel) async throws {
        let test = try await opened(channel)
        let codes = try await test.host.gate("gate").withPrepared("judge") { judge throws(ConnectorError) in
            try (0..<4).map { _ throws(ConnectorError) -> ConnectorError.Code? in
                try judge.set(Self.unavailable, at: 0)
                do throws(ConnectorError) { try judge() } catch { return error.code }
                return nil
            }
        }
        #expect(codes == [.unavailable, .unavailable, .notOpen, .notOpen])
        test.clock.advance(by: .seconds(10))
        let answer = try await test.host.gate("gate").withPrepared("judge") { judge throws(ConnectorError) in
            try judge.set(Int64(0), at: 0)
            try judge()
            return try judge.integer()
        }
        #expect(answer == 0)
        #expect(try test.gate("gate").breaker?.state == .closed)
        await test.host.close()
    }

    @Test func `calls of asynchronous functions count too`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate", settings: #""probe": "off""# + Self.breaker))
        typealias Refuse =
            @convention(c) (OperationFunction.Instance, OperationFunction.Call, Int32, OperationFunction.Failure) ->
            Int32
        let refuse = try unsafe test.host.gate("gate").typed("refuse", "(status: i32) async", as: Refuse.self)
        var codes: [ConnectorError.Code] = []
        for _ in 0..<3 {
            let error = try await failure { () throws(ConnectorError) in
                try await unsafe refuse.call { unsafe $0($1, $2, Int32(Self.unavailable), $3) }
            }
            codes.append(error.code)
        }
        #expect(codes == [.unavailable, .unavailable, .notOpen])
        await test.host.close()
    }

    @Test func `without a breaker calls are not watched`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate", plugin: "crashes"))
        let judge = try judge(test)
        for _ in 0..<9 { _ = try await failure { () throws(ConnectorError) in try await judge(Self.unavailable) } }
        #expect(try await judge(0) == 0)
        #expect(try #require(try test.host.target("gate").node.gate).watch.isOn == false)
        await test.host.close()
    }
}
