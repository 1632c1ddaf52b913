// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import ConnectorTestSupport
import Testing

@testable import ConnectorKit
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Waits for timers, as an author in Swift has them: the kit on the services of a host.
@Suite(.timeLimit(.minutes(5))) struct KitClockTests {
    private let clock = ManualHostClock()

    private func side() throws -> KitSide {
        try KitSide(PluginSide(host: HostServices(options: .init(clock: clock))))
    }

    /// Begins to wait for a minute.
    private func sleep(_ side: KitSide) async throws -> Task<PluginError?, Never> {
        let task = Task { () -> PluginError? in
            do throws(PluginError) {
                try await side.clock.sleep(for: .seconds(60))
                return nil
            } catch {
                return error
            }
        }
        while clock.timerCount == 0 { try await Task.checkedYield() }
        return task
    }

    @Test func `without the clock service, the time is the system's, and so are the timeouts of requests`()
        async throws
    {
        let before = SystemTime.monotonic()
        let now = SystemClock().monotonic
        #expect(before <= now && now <= SystemTime.monotonic())
        let server = LoopbackServer { $0.line.hasPrefix("GET /late") ? .stall : .response(200) }
        defer { server.stop() }
        let side = try KitSide()
        let url = try #require(HTTPURL(server.url()))
        #expect(try await side.http.send(HTTPRequest(.get, url, timeout: .seconds(60))).status == 200)
        let late = HTTPRequest(.get, url.appending("late"), timeout: .milliseconds(20))
        let error = await #expect(throws: PluginError.self) { try await side.http.send(late) }
        #expect(error?.status == .timedOut)
        side.connection.close()
    }

    @Test func `a wait ends with its timer`() async throws {
        let side = try side()
        let waiting = try await sleep(side)
        clock.advance(by: .seconds(60))
        #expect(await waiting.value == nil)
        side.connection.close()
    }

    @Test(arguments: [false, true])
    func `a wait ends with the connection, whether the gate has dropped its timer or not`(isStopped: Bool) async throws
    {
        let side = try side()
        let waiting = try await sleep(side)
        if isStopped { _ = side.plugin.gate.stop() }
        side.connection.close()
        #expect(await waiting.value?.status == .notOpen)
        // A timer that was started as the connection closed is the host's to drop.
        _ = side.plugin.gate.stop()
        #expect(clock.timerCount == 0)
        let error = await #expect(throws: PluginError.self) { try await side.clock.sleep(for: .seconds(1)) }
        #expect(error?.status == .notOpen)
    }

    @Test(arguments: [false, true])
    func `a wait that is cancelled ends, even if the gate has dropped its timer`(isStopped: Bool) async throws {
        let side = try side()
        let waiting = try await sleep(side)
        if isStopped { _ = side.plugin.gate.stop() }
        waiting.cancel()
        #expect(await waiting.value?.status == .cancelled)
        side.connection.close()
    }

    @Test func `too many timers are reported as rate-limited, not as a call that is too large`() async throws {
        let side = try side()
        var timer: UInt64 = 0
        let table = try unsafe #require(side.plugin.clock).pointee
        for _ in 0..<65_536 {
            unsafe #expect(table.start_timer(table.context, .max, { _ in }, nil, &timer) == 0)
        }
        let error = await #expect(throws: PluginError.self) { try await side.clock.sleep(for: .seconds(1)) }
        #expect(error?.status == .rateLimited)
        _ = side.plugin.gate.stop()
        side.connection.close()
    }
}
