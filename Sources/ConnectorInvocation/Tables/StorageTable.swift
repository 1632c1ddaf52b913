// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector

/// The `storage/1` service: see services/storage.h.
enum StorageTable {
    private typealias Error = UnsafeMutablePointer<connector_error>
    private typealias Text = UnsafePointer<CChar>
    private typealias Owned = UnsafeMutablePointer<connector_bytes_owned>
    private typealias Read = @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, Owned?, Error?) -> Int32

    private static let get: Read = { context, key, keyLength, value, error in
        unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
            let key = try unsafe StorageMemory.key(key, keyLength)
            let value = try unsafe StorageMemory.result(value)
            unsafe OwnedBytes.fill(value, with: try services.storedValue(of: key))
        }
    }

    private static let list: Read = { context, prefix, prefixLength, keys, error in
        unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
            let prefix = try unsafe StorageMemory.prefix(prefix, prefixLength)
            let keys = try unsafe StorageMemory.result(keys)
            unsafe OwnedBytes.fill(keys, with: try services.storedKeys(startingWith: prefix))
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
            unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
                let key = try unsafe StorageMemory.key(key, keyLength)
                try services.store(unsafe StorageMemory.value(value, valueLength), as: key)
            }
        }

    private static let replace:
        @convention(c) (
            UnsafeMutableRawPointer?, Text?, UInt64, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>?, UInt64,
            Error?
        ) -> Int32 = { context, key, keyLength, expected, expectedLength, value, valueLength, error in
            unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
                let key = try unsafe StorageMemory.key(key, keyLength)
                let expected = try unsafe StorageMemory.optionalValue(expected, expectedLength)
                let value = try unsafe StorageMemory.value(value, valueLength)
                try services.replaceStored(expected, with: value, of: key)
            }
        }

    private static let remove: @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, Error?) -> Int32 = {
        context,
        key,
        keyLength,
        error in
        unsafe ServiceTables.answer(context, error) { services throws(ServiceFailure) in
            try services.removeStored(unsafe StorageMemory.key(key, keyLength))
        }
    }

    /// The table for one instance.
    static func table(_ context: UnsafeMutableRawPointer) -> connector_storage {
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
}
