// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost

/// A host that is released without being closed.
@Suite(.timeLimit(.minutes(5))) struct ReleasedHostTests {
    /// Listens to a host that nothing keeps any more when this returns.
    private func listeners(of path: String?) async throws -> [Task<Void, Never>] {
        let test = try await TestHost.opened()
        let events = test.host.events(of: path)
        let reports = test.host.reports
        return [Task { for await _ in reports {} }, Task { for await _ in events {} }]
    }

    @Test(arguments: [nil, "gate"])
    func `whoever listens to its events and reports is not left waiting`(_ path: String?) async throws {
        for listener in try await listeners(of: path) { await listener.value }
    }
}
