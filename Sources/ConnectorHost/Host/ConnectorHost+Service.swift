// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ServiceLifecycle

extension ConnectorHost: Service {
    /// Opens the host, runs until the service group shuts down gracefully or the task is cancelled, and closes it.
    ///
    /// It also returns once the host has been closed by ``close()``, or by the end of another ``run()``.
    ///
    /// Shutdown and cancellation take effect immediately, even while gates are opening.
    ///
    /// - Throws: The first error of a required gate that did not open, or that of an outbox that cannot store events, after closing
    ///   everything, unless ``Options/waitsForRequiredGates`` is false; `not-open` if the host has closed before.
    public func run() async throws {
        try requireNotClosing()
        if waitsForRequiredGates {
            _ = await cancelWhenGracefulShutdown { await self.open() }
        } else {
            Task { await open() }
        }
        do {
            let report = report
            let isWanted = !Task.isCancelled && !Task.isShuttingDownGracefully && !isClosing
            if waitsForRequiredGates, isWanted { try report.requireReady() }
        } catch {
            await close()
            throw error
        }
        _ = await cancelWhenGracefulShutdown { await self.closed.waitUnlessCancelled() }
        await close()
    }
}
