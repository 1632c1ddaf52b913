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
            list: fitting(Self.list)
        )
    }

    private static let get: Read = { context, key, length, value, error in
        unsafe read(.storageGet, context, key, length, value, error)
    }

    private static let list: Read = { context, prefix, length, keys, error in
        unsafe read(.storageList, context, prefix, length, keys, error)
    }

    private static let set:
        @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, UnsafePointer<UInt8>?, UInt64, Failure?) -> Int32 = {
            context,
            key,
            length,
            value,
            valueLength,
            error in
            // To the host, a value beyond all that may wait for its storage would be one of too many.
            guard valueLength <= UInt64(CONNECTOR_STORAGE_VALUE_LIMIT) else {
                let text = "the value has more than \(CONNECTOR_STORAGE_VALUE_LIMIT) bytes"
                return unsafe fail(Int32(CONNECTOR_TOO_LARGE), text, error)
            }
            guard let bytes = unsafe bytes(value, valueLength) else {
                return unsafe fail(Int32(CONNECTOR_MISUSE), "the value is null with a length", error)
            }
            return unsafe pass(ask(.storageSet, context, key, length, bytes), to: error)
        }

    private static let remove: @convention(c) (UnsafeMutableRawPointer?, Text?, UInt64, Failure?) -> Int32 = {
        context,
        key,
        length,
        error in
        unsafe pass(ask(.storageRemove, context, key, length, nil), to: error)
    }

    private static func read(
        _ kind: MessageKind,
        _ context: UnsafeMutableRawPointer?,
        _ key: Text?,
        _ length: UInt64,
        _ result: Owned?,
        _ error: Failure?
    ) -> Int32 {
        guard let result = unsafe result else {
            return unsafe fail(Int32(CONNECTOR_MISUSE), "the result pointer is null", error)
        }
        guard unsafe Int(result.pointee.struct_size) >= MemoryLayout<connector_bytes_owned>.size else {
            let text = "the result's struct_size is too small for version 1"
            return unsafe fail(Int32(CONNECTOR_MISUSE), text, error)
        }
        let answer = unsafe ask(kind, context, key, length, nil)
        if answer.status == Int32(CONNECTOR_OK) {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, answer.value.count), alignment: 1)
            unsafe memory.copyBytes(from: answer.value)
            unsafe result.pointee.flags = 0
            unsafe result.pointee.data = memory.baseAddress.map {
                unsafe UnsafePointer($0.assumingMemoryBound(to: UInt8.self))
            }
            unsafe result.pointee.length = UInt64(answer.value.count)
            unsafe result.pointee.context = memory.baseAddress
            unsafe result.pointee.release = { memory in unsafe memory?.deallocate() }
        }
        return unsafe pass(answer, to: error)
    }

    private static func ask(
        _ kind: MessageKind,
        _ context: UnsafeMutableRawPointer?,
        _ key: Text?,
        _ length: UInt64,
        _ value: [UInt8]?
    ) -> Answer {
        guard let services = unsafe at(context) else {
            return Answer(status: Int32(CONNECTOR_MISUSE), error: nil, value: [])
        }
        // The host refuses a key that is too long, and this copy of one still is.
        guard unsafe key != nil || kind == .storageList && length == 0,
            let bytes = unsafe bytes(key, min(length, 1 << 20))
        else {
            let status = Int32(CONNECTOR_MISUSE)
            return Answer(status: status, error: object(status, "the key is null"), value: [])
        }
        let token = services.token()
        var message = MessageWriter()
        message.put(token)
        message.put(bytes)
        if let value { message.put(value) }
        return services.ask(kind, token, message)
    }
}
