// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import Testing

@testable import ConnectorInvocation
@testable import ConnectorKit
@testable import ConnectorServices

/// events/1 as an author in Swift has it: the kit on the services of a host.
@Suite struct KitEventsTests {
    @Test func `the refusal of an event that is too long is the host's, and has the size and the limit`() throws {
        let line = try KitSide()
        let table = try unsafe #require(
            line.plugin.gate.table(named: "events/1")?.assumingMemoryBound(to: connector_events.self)
        )
        let events = unsafe HostEvents(line.connection, table).events
        let text = JSONValue.string(String(repeating: "x", count: Events.byteLimit))
        let error = #expect(throws: PluginError.self) { try events.emit("long", text) }
        #expect(error?.status == .tooLarge && error?.domain == "host")
        #expect(error?.message.hasSuffix("its JSON has 65538, and may have 65536") == true)
        withExtendedLifetime(line) {}
    }
}
