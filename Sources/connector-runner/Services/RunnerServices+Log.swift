// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation

/// `log/1` and `events/1`: what is sent needs no answer, since it is checked here.
extension RunnerServices {
    var logLevel: Int32 { description.logLevel }

    /// Sends a line as it is to the host, which cuts, repairs and redacts it.
    func log(_ level: Int32, _ text: UnsafeRawBufferPointer, _ fields: UnsafeRawBufferPointer?) -> Bool {
        guard max(level, Int32(CONNECTOR_LOG_TRACE)) >= logLevel else { return true }
        var message = MessageWriter()
        message.put(hostOperation(TraceContext.current.operation))
        message.put(level)
        unsafe message.put(text)
        unsafe message.put(fields) { unsafe $0.put($1) }
        send(.log, message)
        guard text.count <= LogTable.textLimit, unsafe String(validating: text, as: UTF8.self) != nil else {
            return false
        }
        guard let fields = unsafe fields else { return true }
        guard fields.count <= LogTable.textLimit else { return false }
        let json = unsafe [UInt8](fields)
        return (try? JSONValue(parsing: json))?.object != nil
    }

    /// True: only the host knows whether there is one.
    var mayHaveListeners: Bool { true }

    func emit(_ name: String, _ payload: JSONValue, json: [UInt8]?) {
        var message = MessageWriter()
        message.put(name)
        message.put(json) { $0.put($1) }
        send(.emit, message)
    }
}
