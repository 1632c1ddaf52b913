// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// The open file of a gate, used by one call at a time on a thread that may wait for the disk.
final class SQLiteFile: Sendable {
    private let path: String
    private let maxBytes: Int64
    private let host: Host
    private let thread = DiskThread()
    /// Only the thread takes the lock, so there is no contention.
    private let records = Mutex<SQLiteRecords?>(nil)

    /// - Parameters:
    ///   - path: Absolute, or relative to the working directory.
    ///   - maxBytes: The greatest size of the file, in bytes.
    init(path: String, maxBytes: Int64, host: Host) {
        (self.path, self.maxBytes, self.host) = (path, maxBytes, host)
    }

    /// Opens the file, or proves that it can still be read.
    func open() async throws(PluginError) {
        try await onThread { [self] records, call throws(PluginError) in
            if let open = records, open.connection.isInPlace { return try open.check() }
            if records != nil { host.log.log(.warning, "the file was removed or replaced while it was open") }
            records = nil
            records = try SQLiteRecords(SQLiteConnection(path, maxBytes: maxBytes, during: call))
        }
    }

    /// Closes the file after the work under way.
    func close() async {
        _ = try? await thread.result { [self] in records.withLock { $0 = nil } }
    }

    /// Runs work on the file until the call's deadline or its cancellation.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteRecords) throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        try await onThread { records, _ throws(PluginError) in
            guard let records else { throw PluginError(.notOpen, "the file is not open") }
            guard records.connection.isInPlace else { throw SQLiteFailure.moved }
            return try body(records)
        }
    }

    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteRecords?, DiskCall) throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let call = DiskCall(clock: host.clock, on: "file")
        return try await thread.result(for: call) { [self] () throws(PluginError) in
            try records.withLock { records throws(PluginError) in
                records?.connection.serve(call)
                return try body(&records, call)
            }
        }
    }
}
