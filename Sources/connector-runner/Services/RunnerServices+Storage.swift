// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation

/// `storage/1`.
extension RunnerServices {
    private typealias Failure = UnsafeMutablePointer<connector_error>
    private typealias Text = UnsafePointer<CChar>
    private typealias Owned = UnsafeMutablePointer<connector_bytes_owned>
    private typealias Read = @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, Owned?, Failure?) -> Int32

    func storageTable(_ context: UnsafeMutableRawPointer) -> connector_storage {
        unsafe connector_storage(
            struct_size: UInt32(MemoryLayout<connector_storage>.size),
            flags: 0,
            context: context,
            get: fitting(Self.get),
            set: fitting(Self.set),
            remove: fitting(Self.remove),
            list: fitting(Self.list),
            replace: fitting(Self.replace)
        )
    }

    private static let get: Read = { context, key, length, value, error in
        unsafe answer(context, error) { services throws(ServiceFailure) in
            let key = try unsafe StorageMemory.key(key, length)
            return try unsafe services.read(.storageGet, key, into: StorageMemory.result(value))
        }
    }

    private static let list: Read = { context, prefix, length, keys, error in
        unsafe answer(context, error) { services throws(ServiceFailure) in
            let prefix = try unsafe StorageMemory.prefix(prefix, length)
            return try unsafe services.read(.storageList, prefix, into: StorageMemory.result(keys))
        }
    }

    private static let set:
        @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, UnsafePointer<UInt8>?, UInt64, Failure?) -> Int32 = {
            context,
            key,
            length,
            value,
            valueLength,
            error in
            unsafe answer(context, error) { services throws(ServiceFailure) in
                let key = try unsafe StorageMemory.key(key, length)
                let value = try unsafe StorageMemory.value(value, valueLength)
                return services.exchange(.storageSet, key) { $0.put(value) }
            }
        }

    private static let replace:
        @convention(c) (
            UnsafeMutableRawPointer?, Text?, UInt64, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>?, UInt64,
            Failure?
        ) -> Int32 = { context, key, length, expected, expectedLength, value, valueLength, error in
            unsafe answer(context, error) { services throws(ServiceFailure) in
                let key = try unsafe StorageMemory.key(key, length)
                let expected = try unsafe StorageMemory.optionalValue(expected, expectedLength)
                let value = try unsafe StorageMemory.value(value, valueLength)
                return services.exchange(.storageReplace, key) { message in
                    message.put(expected) { $0.put($1) }
                    message.put(value)
                }
            }
        }

    private static let remove: @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, Failure?) -> Int32 = {
        context,
        key,
        length,
        error in
        unsafe answer(context, error) { services throws(ServiceFailure) in
            services.exchange(.storageRemove, try unsafe StorageMemory.key(key, length))
        }
    }

    /// Passes on what the host answers, or what a body throws before it asks.
    private static func answer(
        _ context: UnsafeMutableRawPointer?,
        _ error: Failure?,
        _ body: (RunnerServices) throws(ServiceFailure) -> HostRequests.Answer
    ) -> Int32 {
        guard let services = unsafe at(context) else { return Int32(CONNECTOR_MISUSE) }
        do throws(ServiceFailure) {
            return unsafe pass(try body(services), to: error)
        } catch let failure {
            return unsafe failure.write(to: error)
        }
    }

    private func read(_ kind: MessageKind, _ key: [UInt8], into result: Owned) -> HostRequests.Answer {
        let answer = exchange(kind, key)
        if answer.status == Int32(CONNECTOR_OK) { unsafe OwnedBytes.fill(result, with: answer.value) }
        return answer
    }

    /// Asks the host for a function of the storage, and waits for its answer.
    ///
    /// - Parameter rest: Adds what follows the key.
    private func exchange(
        _ kind: MessageKind,
        _ key: [UInt8],
        _ rest: (inout MessageWriter) -> Void = { _ in }
    ) -> HostRequests.Answer {
        let token = token()
        var message = MessageWriter()
        message.put(token)
        message.put(key)
        rest(&message)
        return exchange(kind, token, message)
    }
}
