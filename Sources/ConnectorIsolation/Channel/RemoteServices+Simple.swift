// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation

/// Log, events, storage, and the clock.
extension RemoteServices {
    /// A table of the services, if the plugin may use it.
    func table<Table>(_ id: String, as type: Table.Type) -> UnsafePointer<Table>? {
        unsafe services.table(named: id)?.assumingMemoryBound(to: Table.self)
    }

    func log(_ message: inout MessageReader, _ trace: (UInt64) -> TraceContext?) throws(ConnectorError) {
        let running = try message.integer(UInt64.self)
        let level = try message.integer(Int32.self)
        let text = try message.data()
        let fields = try message.optional { message throws(ConnectorError) in try message.data() }
        guard let table = unsafe table("log/1", as: connector_log.self) else { return }
        keep(text)
        inTrace(trace(running)) {
            _ = unsafe Self.withText(text) { text, length in
                unsafe Self.withText(fields) { fields, fieldsLength in
                    let log: Log = unsafe fitting(table.pointee.log)
                    return unsafe log(table.pointee.context, level, text, length, fields, fieldsLength)
                }
            }
        }
    }

    func emit(_ message: inout MessageReader) throws(ConnectorError) {
        let name = try message.data()
        let json = try message.optional { message throws(ConnectorError) in try message.data() }
        guard let table = unsafe table("events/1", as: connector_events.self) else { return }
        _ = unsafe Self.withText(name) { name, length in
            unsafe Self.withText(json) { json, jsonLength in
                let emit: Emit = unsafe fitting(table.pointee.emit)
                return unsafe emit(table.pointee.context, name, length, json, jsonLength)
            }
        }
    }

    /// Says what the time of day is; in a recording, not before its file is written.
    func wallTime(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let hasRoom = store(holding: 1024) { [self] in
            guard let table = unsafe table("clock/1", as: connector_clock.self) else {
                return answer(token, Int32(CONNECTOR_DENIED))
            }
            var value = MessageWriter()
            value.put(unsafe table.pointee.wall_ns(table.pointee.context))
            unsafe answer(token, Int32(CONNECTOR_OK), error: nil, value.bytes)
        }
        if !hasRoom { answer(token, Int32(CONNECTOR_RATE_LIMITED)) }
    }

    /// Says what the host's monotonic time is.
    func monotonicTime(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        guard let table = unsafe table("clock/1", as: connector_clock.self) else {
            return answer(token, Int32(CONNECTOR_DENIED))
        }
        var value = MessageWriter()
        value.put(unsafe table.pointee.monotonic_ns(table.pointee.context))
        unsafe answer(token, Int32(CONNECTOR_OK), error: nil, value.bytes)
    }

    /// Starts a timer on the host's clock; the runner is told when it fires.
    func startTimer(_ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let delay = try message.integer(UInt64.self)
        guard unsafe services.table(named: "clock/1") != nil else { return answer(token, Int32(CONNECTOR_DENIED)) }
        let fire: @Sendable () -> Void = { [weak self] in
            var message = MessageWriter()
            message.put(token)
            self?.send(.timerFired, message)
        }
        answer(token, timers.start(token, after: delay, fire) { callback in callback() })
    }

    /// Reads or writes the storage.
    func store(_ kind: MessageKind, _ message: inout MessageReader) throws(ConnectorError) {
        let token = try message.integer(UInt64.self)
        let key = try message.data()
        let isReplacement = kind == .storageReplace
        let expected =
            isReplacement ? try message.optional { message throws(ConnectorError) in try message.data() } : nil
        let value = kind == .storageSet || isReplacement ? try message.data() : []
        let hasRoom = store(holding: key.count + (expected?.count ?? 0) + value.count + 1024) { [self] in
            guard let table = unsafe table("storage/1", as: connector_storage.self) else {
                return answer(token, Int32(CONNECTOR_DENIED))
            }
            unsafe ServiceError.with { error in
                var result = unsafe connector_bytes_owned()
                unsafe result.struct_size = UInt32(MemoryLayout<connector_bytes_owned>.size)
                let status = unsafe Self.withText(key) { key, length in
                    let context = unsafe table.pointee.context
                    switch kind {
                    case .storageGet:
                        let get: Read = unsafe fitting(table.pointee.get)
                        return unsafe get(context, key, length, &result, error)
                    case .storageList:
                        let list: Read = unsafe fitting(table.pointee.list)
                        return unsafe list(context, key, length, &result, error)
                    case .storageSet:
                        let set: Write = unsafe fitting(table.pointee.set)
                        return unsafe Self.withBytes(value) { bytes, count in
                            unsafe set(context, key, length, bytes, count, error)
                        }
                    case .storageReplace:
                        let replace: Replace = unsafe fitting(table.pointee.replace)
                        // An empty value is not null, unlike none.
                        return unsafe Self.withText(expected) { text, oldCount in
                            let old = unsafe UnsafeRawPointer(text)?.assumingMemoryBound(to: UInt8.self)
                            return unsafe Self.withBytes(value) { bytes, count in
                                unsafe replace(context, key, length, old, oldCount, bytes, count, error)
                            }
                        }
                    default:
                        let remove: Remove = unsafe fitting(table.pointee.remove)
                        return unsafe remove(context, key, length, error)
                    }
                }
                let bytes = unsafe [UInt8](
                    UnsafeBufferPointer(start: result.data, count: Int(clamping: result.length))
                )
                unsafe result.release?(result.context)
                unsafe answer(token, status, error: error, bytes)
            }
        }
        if !hasRoom { answer(token, Int32(CONNECTOR_RATE_LIMITED)) }
    }

    // The tables' functions, typed to allow the null that their headers forbid: the services refuse it with a status.
    private typealias Log =
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
        ) -> Int32
    private typealias Emit =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
        ) -> Int32
    private typealias Failure = UnsafeMutablePointer<connector_error>
    private typealias Read =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafeMutablePointer<connector_bytes_owned>?,
            Failure?
        ) -> Int32
    private typealias Write =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafePointer<UInt8>?, UInt64, Failure?
        ) -> Int32
    private typealias Replace =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafePointer<UInt8>?, UInt64,
            UnsafePointer<UInt8>?, UInt64, Failure?
        ) -> Int32
    private typealias Remove =
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, Failure?) -> Int32

    /// Lends a text with its length; null for none.
    static func withText<Result>(_ text: [UInt8]?, _ body: (UnsafePointer<CChar>?, UInt64) -> Result) -> Result {
        guard let text else { return body(nil, 0) }
        return unsafe (text + [0]).withUnsafeBytes { bytes in
            unsafe body(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(text.count))
        }
    }

    /// Lends bytes with their length; null for none.
    static func withBytes<Result>(_ bytes: [UInt8]?, _ body: (UnsafePointer<UInt8>?, UInt64) -> Result) -> Result {
        guard let bytes else { return body(nil, 0) }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe body(bytes.isEmpty ? nil : buffer.baseAddress, UInt64(buffer.count))
        }
    }
}
