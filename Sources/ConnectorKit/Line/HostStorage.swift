// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The host's `storage/1`.
@safe
struct HostStorage: StorageService, @unchecked Sendable {
    // Sendable: the table is constant until `destroy` (host.h), its functions may be called from any thread (storage.h), and
    // the connection refuses calls afterwards.
    private let connection: HostConnection
    private let table: UnsafePointer<connector_storage>
    /// The thread for the host's functions, which block on the disk.
    private let thread = DiskThread()
    /// Whether the table has `replace`, unlike that of an older host. Read before `destroy` can free the table.
    private let hasReplace: Bool

    init(_ connection: HostConnection, _ table: UnsafePointer<connector_storage>) {
        self.connection = connection
        unsafe self.table = unsafe table
        let field = unsafe MemoryLayout<connector_storage>.offset(of: \.replace) ?? .max
        hasReplace = unsafe Int(table.pointee.struct_size) > field
    }

    func value(of key: String) async throws(PluginError) -> [UInt8]? {
        try await thread.result { () throws(PluginError) in
            try unless(.notFound) { () throws(PluginError) -> [UInt8] in
                try unsafe owned(key) { table, key, length, value, error in
                    unsafe table.pointee.get(table.pointee.context, key, length, value, error)
                }
            }
        }
    }

    func set(_ value: [UInt8], for key: String) async throws(PluginError) {
        try await thread.result { () throws(PluginError) in
            try unsafe call { error in
                unsafe BorrowedText(key).withPointer { key, length in
                    unsafe value.withUnsafeBufferPointer { value in
                        unsafe table.pointee.set(
                            table.pointee.context,
                            key,
                            length,
                            value.baseAddress,
                            UInt64(value.count),
                            error
                        )
                    }
                }
            }
        }
    }

    func replace(
        _ expected: [UInt8]?,
        with value: [UInt8],
        for key: String
    ) async throws(PluginError) -> Bool {
        guard hasReplace else { return try await replaceInTwoSteps(expected, with: value, for: key) }
        // One byte more gives an empty value an address, too: null stands for none.
        let old = (expected ?? []) + [0]
        return try await thread.result { () throws(PluginError) -> Bool in
            let replaced: Void? = try unless(.conflict) { () throws(PluginError) in
                try unsafe call { error in
                    unsafe BorrowedText(key).withPointer { key, length in
                        unsafe old.withUnsafeBufferPointer { old in
                            unsafe value.withUnsafeBufferPointer { value in
                                unsafe table.pointee.replace(
                                    table.pointee.context,
                                    key,
                                    length,
                                    expected == nil ? nil : old.baseAddress,
                                    UInt64(expected?.count ?? 0),
                                    value.baseAddress,
                                    UInt64(value.count),
                                    error
                                )
                            }
                        }
                    }
                }
            }
            return replaced != nil
        }
    }

    func remove(_ key: String) async throws(PluginError) {
        try await thread.result { () throws(PluginError) in
            _ = try unless(.notFound) { () throws(PluginError) in
                try unsafe call { error in
                    unsafe BorrowedText(key).withPointer { key, length in
                        unsafe table.pointee.remove(table.pointee.context, key, length, error)
                    }
                }
            }
        }
    }

    func keys(startingWith prefix: String) async throws(PluginError) -> [String] {
        let json = try await thread.result { () throws(PluginError) in
            try unsafe owned(prefix) { table, prefix, length, value, error in
                unsafe table.pointee.list(table.pointee.context, prefix, length, value, error)
            }
        }
        do throws(ConnectorError) {
            return try JSONValue(parsing: json).array?.compactMap(\.string) ?? []
        } catch {
            throw PluginError(error)
        }
    }

    /// Turns an error of one status into nil.
    private func unless<Value>(
        _ status: PluginStatus,
        _ body: () throws(PluginError) -> Value
    ) throws(PluginError) -> Value? {
        do throws(PluginError) {
            return try body()
        } catch {
            guard error.status == status else { throw error }
            return nil
        }
    }

    private func call(
        _ body: (UnsafeMutablePointer<connector_error>) -> Int32
    ) throws(PluginError) {
        var error = Line.emptyError
        let status = connection.whileOpen { unsafe body(&error) }
        guard let status else { throw PluginError(.notOpen, "the gate is closing") }
        guard status == Line.ok else { throw unsafe Line.failure(status, &error) }
    }

    /// Copies bytes that the host passed, and releases the original.
    private func owned(
        _ text: String,
        _ body: (
            UnsafePointer<connector_storage>, UnsafePointer<CChar>, UInt64, UnsafeMutablePointer<connector_bytes_owned>,
            UnsafeMutablePointer<connector_error>
        ) -> Int32
    ) throws(PluginError) -> [UInt8] {
        var bytes = unsafe connector_bytes_owned()
        unsafe bytes.struct_size = UInt32(MemoryLayout<connector_bytes_owned>.size)
        try unsafe call { error in
            unsafe BorrowedText(text).withPointer { text, length in
                unsafe body(table, text, length, &bytes, error)
            }
        }
        let copy = unsafe [UInt8](UnsafeBufferPointer(start: bytes.data, count: Int(clamping: bytes.length)))
        unsafe bytes.release?(bytes.context)
        return copy
    }
}
