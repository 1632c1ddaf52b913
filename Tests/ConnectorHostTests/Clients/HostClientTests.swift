// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorHost

/// Which clients a host has for a connector.
@Suite struct HostClientTests {
    @Test func `a connector has no client for a capability that its plugin does not have`() throws {
        let host = try TestHost(TestHost.leaf("gate")).host
        let clients: [() throws -> Void] = [
            { _ = try host.analytics("gate") },
            { _ = try host.database("gate") },
            { _ = try host.files("gate") },
            { _ = try host.sensor("gate") },
            { _ = try host.settings("gate") },
        ]
        for client in clients {
            let error = #expect(throws: ConnectorError.self) { try client() }
            #expect(error?.code == .unsupported)
        }
    }
}
