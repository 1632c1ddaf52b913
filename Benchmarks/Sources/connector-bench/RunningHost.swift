// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// `connector-host run` in a process of its own, which drains an outbox on servers.
///
/// It ends with this process, however that ends. Sendable: its stream is used by ``close()`` alone, once.
@safe struct RunningHost: Sendable {
    private nonisolated(unsafe) let stream: UnsafeMutablePointer<FILE>
    private let folder: String

    /// Starts one with the configuration of an ``OutboxTarget``, and a state of its own.
    ///
    /// - Parameter number: Tells it apart from others.
    init(_ number: Int, files: String) throws {
        folder = "\(files)/host-\(number)"
        _ = try ChildProcess.output(["rm", "-rf", folder])
        _ = try ChildProcess.output(["mkdir", folder])
        _ = try ChildProcess.output(["cp", "\(files)/outbox/connectors.json", folder])
        let host = "../bin/connector-host run --grace 1ms --log-level error >/dev/null"
        // The shell inherits the signals that threads of Swift block, so it must not wait for one.
        let line = "cd '\(folder)' && { \(host) & read -r _; kill -KILL $!; }"
        guard let stream = unsafe popen(line, "w") else { throw Failure("the host does not start") }
        unsafe self.stream = stream
    }

    /// Ends it.
    func close() throws {
        _ = unsafe pclose(stream)
        _ = try ChildProcess.output(["rm", "-r", folder])
    }
}
