// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What a call of storage/1 brought.
struct StorageAnswer: Equatable {
    /// What the function returned.
    var status: Int32
    /// The owned result, released.
    var text: String?
    /// The error's message.
    var message = ""
}

extension PluginSide {
    /// The table of storage/1.
    var storage: UnsafePointer<connector_storage>? {
        unsafe gate.table(named: "storage/1")?.assumingMemoryBound(to: connector_storage.self)
    }

    /// Reads a value.
    func get(_ key: String) -> StorageAnswer {
        unsafe call(key) { table, key, length, owned, error in
            unsafe table.get(table.context, key, length, &owned, &error)
        }
    }

    /// Writes a value.
    func set(_ key: String, _ value: [UInt8]) -> StorageAnswer {
        unsafe call(key) { table, key, length, _, error in
            unsafe table.set(table.context, key, length, value, UInt64(value.count), &error)
        }
    }

    /// Writes a value if the key has the expected one; nil stands for none.
    func replace(_ key: String, _ expected: [UInt8]?, _ value: [UInt8]) -> StorageAnswer {
        // One byte more gives an empty value an address, too.
        let old = (expected ?? []) + [0]
        return unsafe call(key) { table, key, length, _, error in
            unsafe old.withUnsafeBufferPointer { old in
                unsafe table.replace(
                    table.context,
                    key,
                    length,
                    expected == nil ? nil : old.baseAddress,
                    UInt64(expected?.count ?? 0),
                    value,
                    UInt64(value.count),
                    &error
                )
            }
        }
    }

    /// Removes a value.
    func remove(_ key: String) -> StorageAnswer {
        unsafe call(key) { table, key, length, _, error in
            unsafe table.remove(table.context, key, length, &error)
        }
    }

    /// Lists keys.
    func list(_ prefix: String = "") -> StorageAnswer {
        unsafe call(prefix) { table, prefix, length, owned, error in
            unsafe table.list(table.context, prefix, length, &owned, &error)
        }
    }

    private func call(
        _ key: String,
        _ body: (
            connector_storage, UnsafePointer<CChar>, UInt64, inout connector_bytes_owned, inout connector_error
        ) -> Int32
    ) -> StorageAnswer {
        guard let table = unsafe storage?.pointee else { return StorageAnswer(status: -1) }
        var owned = unsafe connector_bytes_owned()
        unsafe owned.struct_size = UInt32(MemoryLayout<connector_bytes_owned>.size)
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        let status = unsafe key.withCString { unsafe body(table, $0, UInt64(key.utf8.count), &owned, &error) }
        let message = unsafe withUnsafeBytes(of: error.message) {
            unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        var text: String?
        if let data = unsafe owned.data {
            text = unsafe String(decoding: UnsafeBufferPointer(start: data, count: Int(owned.length)), as: UTF8.self)
            unsafe owned.release?(owned.context)
        }
        return StorageAnswer(status: status, text: text, message: message)
    }
}
