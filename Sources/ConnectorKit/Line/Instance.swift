// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// An instance of the author's type, to which the host's `void *instance` points.
final class Instance<P: Plugin>: Sendable {
    let plugin: P
    let connection: HostConnection
    let calls = PendingCalls()

    init(plugin: P, connection: HostConnection) {
        self.plugin = plugin
        self.connection = connection
    }

    /// The instance behind a pointer from `create` that `destroy` has not taken back.
    static func borrowed(_ instance: UnsafeMutableRawPointer?) -> Instance<P>? {
        guard let instance = unsafe instance else { return nil }
        return unsafe Unmanaged<Instance<P>>.fromOpaque(instance).takeUnretainedValue()
    }

    /// Runs an operation on the calling thread until its first suspension, and the rest on Swift's cooperative pool.
    func start(_ operation: UInt64, deadline: UInt64, _ work: @escaping Line.Work<P>) {
        calls.begin(operation)
        let task = Task.immediate {
            let result: Result<[UInt8]?, PluginError>
            do {
                result = .success(try await Deadline.$current.withValue(deadline) { try await work(self.plugin) })
            } catch {
                result = .failure(PluginError(error))
            }
            if self.calls.end(operation) { self.connection.complete(operation, result) }
        }
        calls.attach(task, to: operation)
    }
}

/// The deadline of the current task's operation, on the monotonic clock of `clock/1`.
package enum Deadline {
    @TaskLocal package static var current: UInt64 = UInt64.max

    /// The earlier of ``current`` and the end of a timeout that begins now.
    static func after(_ timeout: Duration?, on clock: any ClockService) -> UInt64 {
        guard let timeout else { return current }
        let (end, overflow) = clock.monotonic.addingReportingOverflow(timeout.nanoseconds)
        return overflow ? current : min(end, current)
    }
}
