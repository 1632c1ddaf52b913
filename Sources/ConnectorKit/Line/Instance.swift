// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An instance of the author's type, to which the host's `void *instance` points.
final class Instance<P: Plugin>: Sendable {
    let plugin: P
    let connection: HostConnection
    private let clock: any ClockService
    let calls = PendingCalls()

    init(plugin: P, connection: HostConnection, clock: any ClockService) {
        self.plugin = plugin
        self.connection = connection
        self.clock = clock
    }

    /// The instance behind a pointer from `create` that `destroy` has not taken back.
    static func borrowed(_ instance: UnsafeMutableRawPointer?) -> Instance<P>? {
        guard let instance = unsafe instance else { return nil }
        return unsafe Unmanaged<Instance<P>>.fromOpaque(instance).takeUnretainedValue()
    }

    /// Runs an operation on the calling thread until its first suspension, and the rest on Swift's cooperative pool.
    func start(_ operation: UInt64, deadline: UInt64, _ work: @escaping Line.Work<P>) {
        calls.begin(operation)
        let call = Deadline(deadline, on: clock)
        let task = Task.immediate {
            let result: Result<[UInt8]?, PluginError>
            do {
                result = .success(try await call.apply { try await work(self.plugin) })
            } catch {
                result = .failure(PluginError(error))
            }
            let isClaimed = self.calls.end(operation) && self.connection.complete(operation, result)
            if !isClaimed { call.undo() }
        }
        calls.attach(task, to: operation)
    }
}
