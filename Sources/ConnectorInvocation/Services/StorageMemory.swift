// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector

/// Reads what a plugin passes to `storage/1`.
package enum StorageMemory {
    /// Copies a key.
    package static func key(_ start: UnsafePointer<CChar>?, _ length: UInt64) throws(ServiceFailure) -> [UInt8] {
        guard unsafe start != nil else { throw .misuse("the key is null") }
        let limit = Int(CONNECTOR_STORAGE_KEY_LIMIT)
        guard length > 0, let text = unsafe PluginMemory.text(start, length, limit: limit) else {
            throw .invalid("the key is empty, longer than \(limit) bytes or not UTF-8")
        }
        return Array(text.utf8)
    }

    /// Copies the beginning of keys, which may be empty.
    package static func prefix(_ start: UnsafePointer<CChar>?, _ length: UInt64) throws(ServiceFailure) -> [UInt8] {
        try unsafe length == 0 ? [] : key(start, length)
    }

    /// Copies a value.
    package static func value(_ start: UnsafePointer<UInt8>?, _ length: UInt64) throws(ServiceFailure) -> [UInt8] {
        let limit = Int(CONNECTOR_STORAGE_VALUE_LIMIT)
        guard length <= UInt64(limit) else { throw .tooLarge("the value has more than \(limit) bytes") }
        guard let bytes = unsafe PluginMemory.bytes(start, length, limit: limit) else {
            throw .misuse("the value is null with a length")
        }
        return bytes
    }

    /// Copies a value; null stands for none, and is not the same as an empty one.
    package static func optionalValue(
        _ start: UnsafePointer<UInt8>?,
        _ length: UInt64
    ) throws(ServiceFailure) -> [UInt8]? {
        if unsafe start == nil, length == 0 { return nil }
        return try unsafe value(start, length)
    }

    /// The object that receives a result.
    package static func result(
        _ owned: UnsafeMutablePointer<connector_bytes_owned>?
    ) throws(ServiceFailure) -> UnsafeMutablePointer<connector_bytes_owned> {
        guard let owned = unsafe owned else { throw .misuse("the result pointer is null") }
        guard unsafe Int(owned.pointee.struct_size) >= MemoryLayout<connector_bytes_owned>.size else {
            throw .misuse("the result's struct_size is too small for version 1")
        }
        return unsafe owned
    }
}
