// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorBase
internal import ConnectorInvocation

/// The `storage/1` service: see services/storage.h.
package enum StorageTable {
    private typealias Error = UnsafeMutablePointer<connector_error>
    private typealias Text = UnsafePointer<CChar>
    private typealias Owned = UnsafeMutablePointer<connector_bytes_owned>

    private static let get: @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, Owned?, Error?) -> Int32 = {
        context,
        key,
        keyLength,
        value,
        error in
        unsafe answer(context, error) { gate throws(ServiceFailure) in
            let key = try unsafe StorageMemory.key(key, keyLength)
            let value = try unsafe StorageMemory.result(value)
            guard let bytes = try gate.storage.value(of: key) else { throw notFound }
            unsafe OwnedBytes.fill(value, with: bytes)
        }
    }

    private static let set:
        @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, UnsafePointer<UInt8>?, UInt64, Error?) -> Int32 = {
            context,
            key,
            keyLength,
            value,
            valueLength,
            error in
            unsafe answer(context, error) { gate throws(ServiceFailure) in
                let key = try unsafe StorageMemory.key(key, keyLength)
                try gate.storage.set(key, to: unsafe StorageMemory.value(value, valueLength))
            }
        }

    private static let remove: @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, Error?) -> Int32 = {
        context,
        key,
        keyLength,
        error in
        unsafe answer(context, error) { gate throws(ServiceFailure) in
            guard try gate.storage.remove(unsafe StorageMemory.key(key, keyLength)) else { throw notFound }
        }
    }

    private static let list: @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, Owned?, Error?) -> Int32 = {
        context,
        prefix,
        prefixLength,
        keys,
        error in
        unsafe answer(context, error) { gate throws(ServiceFailure) in
            let prefix = try unsafe StorageMemory.prefix(prefix, prefixLength)
            let keys = try unsafe StorageMemory.result(keys)
            let names = try gate.storage.keys(startingWith: prefix).map {
                JSONValue.string(String(decoding: $0, as: UTF8.self))
            }
            unsafe OwnedBytes.fill(keys, with: JSONValue.array(names).utf8())
        }
    }

    private static let replace:
        @convention(c) (
            UnsafeMutableRawPointer?, Text?, UInt64, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>?, UInt64,
            Error?
        ) -> Int32 = { context, key, keyLength, expected, expectedLength, value, valueLength, error in
            unsafe answer(context, error) { gate throws(ServiceFailure) in
                let key = try unsafe StorageMemory.key(key, keyLength)
                let expected = try unsafe StorageMemory.optionalValue(expected, expectedLength)
                try gate.storage.replace(expected, with: unsafe StorageMemory.value(value, valueLength), of: key)
            }
        }

    /// The table for one gate.
    package static func table(context: UnsafeMutableRawPointer) -> connector_storage {
        unsafe connector_storage(
            struct_size: UInt32(MemoryLayout<connector_storage>.size),
            flags: 0,
            context: context,
            get: fitting(get),
            set: fitting(set),
            remove: fitting(remove),
            list: fitting(list),
            replace: fitting(replace)
        )
    }

    private static var notFound: ServiceFailure {
        ServiceFailure(status: Int32(CONNECTOR_NOT_FOUND), message: "nothing is stored under this key")
    }

    /// Turns the error that a body throws into a status and an error object.
    private static func answer(
        _ context: UnsafeMutableRawPointer?,
        _ error: Error?,
        _ body: (GateServices) throws(ServiceFailure) -> Void
    ) -> Int32 {
        guard let gate = unsafe GateServices.at(context) else { return Int32(CONNECTOR_MISUSE) }
        do throws(ServiceFailure) {
            try body(gate)
            return Int32(CONNECTOR_OK)
        } catch let failure {
            return unsafe failure.write(to: error)
        }
    }
}
