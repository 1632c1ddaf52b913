// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorOutbox
import ConnectorOutboxNATS
import ConnectorTestSupport
import Testing

/// Servers that the tests of a suite share, each test with streams of its own. They start when a test first asks for them, and end
/// with the suite.
struct SharedNATSServers: SuiteTrait, TestScoping {
    @TaskLocal private static var running: Running?

    private actor Running {
        private var servers: [Int: Task<NATSServers, any Error>] = [:]
        private var streams = 0

        func settings(_ count: Int, _ paths: [String]) async throws -> NATSSettings {
            streams += 1
            let stream = "TEST\(streams)"
            let starting = servers[count] ?? Task { try await NATSServers(count) }
            servers[count] = starting
            let servers = try await starting.value
            let settings = servers.settings(stream: stream)
            _ = try await servers.migrate(paths, settings)
            return settings
        }
    }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Self.$running.withValue(Running(), operation: function)
    }

    /// Makes streams and consumers on one server, or on three.
    static func settings(_ count: Int, _ paths: [String]) async throws -> NATSSettings {
        try await #require(running).settings(count, paths)
    }
}

extension Trait where Self == SharedNATSServers {
    /// The tests may ask for ``SharedNATSServers/settings(_:_:)``.
    static var sharedNATSServers: Self { Self() }
}
