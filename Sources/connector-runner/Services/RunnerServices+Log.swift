// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation

/// `log/1` and `events/1`.
extension RunnerServices {
    func logTable(_ context: UnsafeMutableRawPointer) -> connector_log {
        unsafe connector_log(
            struct_size: UInt32(MemoryLayout<connector_log>.size),
            level: description.logLevel,
            context: context,
            log: fitting(Self.log)
        )
    }

    func eventsTable(_ context: UnsafeMutableRawPointer) -> connector_events {
        unsafe connector_events(
            struct_size: UInt32(MemoryLayout<connector_events>.size),
            flags: 0,
            context: context,
            emit: fitting(Self.emit)
        )
    }

    /// The most bytes of a log text that go to the host, which truncates it and says so.
    private static let textLimit = Int(lineLimit) + 8192
    /// The longest text that log/1 takes, in bytes.
    private static let lineLimit: UInt64 = 64 << 10

    /// Copies as much of a text as goes to the host.
    private static func start(of text: UnsafePointer<CChar>?, _ length: UInt64) -> [UInt8]? {
        unsafe PluginMemory.bytes(text, min(length, UInt64(textLimit)), limit: textLimit)
    }

    private static let log:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
        ) -> Int32 = { context, level, text, length, fields, fieldsLength in
            guard let services = unsafe at(context), unsafe text != nil || length == 0,
                unsafe fields != nil || fieldsLength == 0
            else { return Int32(CONNECTOR_MISUSE) }
            guard max(level, Int32(CONNECTOR_LOG_TRACE)) >= services.description.logLevel else {
                return Int32(CONNECTOR_OK)
            }
            let line = unsafe start(of: text, length) ?? []
            let more = unsafe fields == nil ? nil : start(of: fields, fieldsLength)
            var message = MessageWriter()
            message.put(services.hostOperation(TraceContext.current.operation))
            message.put(level)
            message.put(line)
            message.put(more) { $0.put($1) }
            services.send(.log, message)
            let isSound =
                length <= lineLimit && fieldsLength <= lineLimit
                && String(validating: line, as: UTF8.self) != nil
                && more.map { (try? JSONValue(parsing: $0))?.object != nil } ?? true
            return isSound ? Int32(CONNECTOR_OK) : Int32(CONNECTOR_MISUSE)
        }

    /// Checks here what the host would check in an event, so that the plugin does not wait for an answer.
    private static let emit:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
        ) -> Int32 = { context, name, nameLength, json, jsonLength in
            guard let services = unsafe at(context) else { return Int32(CONNECTOR_MISUSE) }
            guard nameLength <= UInt64(CONNECTOR_EVENT_NAME_LIMIT), jsonLength <= UInt64(CONNECTOR_EVENT_JSON_LIMIT)
            else { return Int32(CONNECTOR_TOO_LARGE) }
            guard let text = unsafe PluginMemory.bytes(name, nameLength, limit: Int(CONNECTOR_EVENT_NAME_LIMIT)),
                EventName.isValid(text),
                let value = unsafe PluginMemory.bytes(json, jsonLength, limit: Int(CONNECTOR_EVENT_JSON_LIMIT)),
                unsafe json == nil || (try? JSONValue(parsing: value)) != nil
            else { return Int32(CONNECTOR_MISUSE) }
            var message = MessageWriter()
            message.put(text)
            unsafe message.put(json == nil ? nil : value) { $0.put($1) }
            services.send(.emit, message)
            return Int32(CONNECTOR_OK)
        }
}
