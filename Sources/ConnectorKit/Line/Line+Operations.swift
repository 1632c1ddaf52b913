// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

extension Line {
    /// An asynchronous operation with its arguments bound, ready to run on the author's type; returns nil if it has no
    /// result.
    public typealias Work<P> = @Sendable (P) async throws -> [UInt8]?

    /// Runs an asynchronous operation and completes it exactly once.
    ///
    /// The operation starts on the calling thread: one that never suspends completes before this returns.
    ///
    /// - Parameters:
    ///   - type: The author's type.
    ///   - instance: The pointer that `create` gave the host.
    ///   - call: The borrowed call.
    ///   - error: The borrowed error object for a failure.
    ///   - prepare: Turns the borrowed arguments into values. If it throws, the call is over and must not complete.
    public static func perform<P: Plugin>(
        _ type: P.Type,
        _ instance: UnsafeMutableRawPointer?,
        _ call: UnsafeRawPointer?,
        _ error: UnsafeMutableRawPointer?,
        _ prepare: () throws -> Work<P>
    ) -> Int32 {
        guard let instance = unsafe Instance<P>.borrowed(instance), let call = unsafe call else {
            return unsafe write(PluginError(.misuse, "there is no instance or no call", domain: "kit"), into: error)
        }
        do {
            let work = try prepare()
            let call = unsafe call.assumingMemoryBound(to: connector_call.self)
            unsafe instance.start(call.pointee.operation, deadline: call.pointee.deadline_ns, work)
            return Line.ok
        } catch let failure {
            return unsafe write(PluginError(failure), into: error)
        }
    }

    /// Runs a synchronous operation.
    ///
    /// - Parameters:
    ///   - type: The author's type.
    ///   - instance: The pointer that `create` gave the host.
    ///   - error: The borrowed error object for a failure.
    ///   - body: Reads the arguments, calls the author's method, and writes the results.
    public static func answer<P: Plugin>(
        _ type: P.Type,
        _ instance: UnsafeMutableRawPointer?,
        _ error: UnsafeMutableRawPointer?,
        _ body: (P) throws -> Void
    ) -> Int32 {
        guard let instance = unsafe Instance<P>.borrowed(instance) else {
            return unsafe write(PluginError(.misuse, "there is no instance", domain: "kit"), into: error)
        }
        do {
            try body(instance.plugin)
            return Line.ok
        } catch let failure {
            return unsafe write(PluginError(failure), into: error)
        }
    }
}
