// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ServiceLifecycle

extension ConnectorHost: Service {
    /// Opens the host, runs until the service group shuts down gracefully or the task is cancelled, and closes it.
    ///
    /// Shutdown and cancellation take effect immediately, even while gates are opening.
    ///
    /// - Throws: The first error of a required gate that did not open, after closing everything, unless
    ///   ``Options/waitsForRequiredGates`` is false; `not-open` if the host has closed before.
    public func run() async throws {
        try requireNotClosing()
        if waitsForRequiredGates {
            _ = await cancelWhenGracefulShutdown { await self.open() }
        } else {
            Task { await open() }
        }
        do {
            if waitsForRequiredGates, !Task.isCancelled, !Task.isShuttingDownGracefully { try report.requireReady() }
        } catch {
            await close()
            throw error
        }
        try? await gracefulShutdown()
        await close()
    }
}
