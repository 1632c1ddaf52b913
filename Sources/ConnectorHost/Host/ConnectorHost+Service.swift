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

    /// Awaits what may never come, and cancels the wait once the caller's service group shuts down gracefully.
    ///
    /// A group shuts its services down in reverse order, and so closes the host after the services that use it: nothing else would end
    /// their waits. Outside of a group, this only waits.
    ///
    /// - Parameters:
    ///   - fix: What to do about a wait that the shutdown has ended.
    ///   - wait: The wait, which fails with `cancelled` if its task is cancelled.
    func endingAtShutdown<Value: Sendable>(
        fix: String? = nil,
        _ wait: @escaping @Sendable () async -> Result<Value, ConnectorError>
    ) async throws(ConnectorError) -> Value {
        let outcome = await cancelWhenGracefulShutdown { await wait() }
        do throws(ConnectorError) {
            return try outcome.get()
        } catch {
            guard error.code == .cancelled, !Task.isCancelled, Task.isShuttingDownGracefully else { throw error }
            throw ConnectorError(.cancelled, "the service group shut down first", fix: fix, cause: error.message)
        }
    }
}
