// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

/// What a reload replaces may end as it likes.
@Suite(.timeLimit(.minutes(5))) struct ReloadEndingTests {
    @Test(arguments: ["fails", "never"])
    func `a predecessor whose close fails or hangs does not hold up the switch`(_ closes: String) async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate", ["closes": .string(closes)]), TestHost.leaf("other"))
        let reloading = Task { try await test.reload(TestHost.leaf("gate", ["replies": "2"]), TestHost.leaf("other")) }
        while try test.gate("gate").generation < 2 { await Task.yield() }
        #expect(try await test.call("gate", "answer", ["value": 0]) == 2)
        while test.host.reloader.isRunning {
            if test.clock.timerCount > 0 { test.clock.advance(by: .milliseconds(500)) }
            await Task.yield()
        }
        let reload = try await reloading.value
        #expect(reload.isActive && reload.errors.isEmpty && reload.rolledBack.isEmpty)
        #expect(reload.draining == (closes == "never" ? ["gate"] : []))
        #expect(test.state("gate") == .open)
        await test.clock.advance(by: .seconds(1)) { await test.host.close() }
    }
}
