// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Logging
import ServiceLifecycle

/// How a service that runs a closure ends, in a group that shuts down gracefully.
enum ServiceEnd {
    private struct Work: Service {
        let begun = OneShot<Void>()
        let outcome = OneShot<Result<Void, ConnectorError>>()
        let waitsForShutdown: Bool
        let body: @Sendable () async throws(ConnectorError) -> Void

        func run() async throws {
            begun.send()
            if waitsForShutdown { try await gracefulShutdown() }
            do throws(ConnectorError) {
                try await body()
                outcome.send(.success(()))
            } catch {
                outcome.send(.failure(error))
            }
        }
    }

    /// Shuts the group down once the service has begun.
    ///
    /// - Returns: The error of the closure; nil if it threw none.
    static func atShutdown(
        _ body: @escaping @Sendable () async throws(ConnectorError) -> Void
    ) async throws -> ConnectorError? {
        try await error(of: Work(waitsForShutdown: false, body: body))
    }

    /// Begins the closure once the group shuts down.
    ///
    /// - Returns: The error of the closure; nil if it threw none.
    static func afterShutdown(
        _ body: @escaping @Sendable () async throws(ConnectorError) -> Void
    ) async throws -> ConnectorError? {
        try await error(of: Work(waitsForShutdown: true, body: body))
    }

    private static func error(of work: Work) async throws -> ConnectorError? {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [work], logger: logger)
        let running = Task { try await group.run() }
        await work.begun.wait()
        await group.triggerGracefulShutdown()
        // A closure that ended before the shutdown leaves a group without services, which is no error here.
        _ = await running.result
        guard case .failure(let error) = await work.outcome.wait() else { return nil }
        return error
    }
}
