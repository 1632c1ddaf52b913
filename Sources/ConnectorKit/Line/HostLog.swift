// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The host's `log/1`.
@safe
struct HostLog: @unchecked Sendable {
    // Sendable: the table is constant until `destroy` (host.h), its functions may be called from any thread (log.h), and
    // the connection refuses calls afterwards.
    private let connection: HostConnection
    private let table: UnsafePointer<connector_log>

    init(_ connection: HostConnection, _ table: UnsafePointer<connector_log>) {
        self.connection = connection
        unsafe self.table = unsafe table
    }

    /// The service in the form that authors use.
    var log: Log {
        let level = unsafe Log.Level(rawValue: table.pointee.level) ?? .trace
        return Log(level: level) { level, message, fields in write(level, message, fields) }
    }

    private func write(_ level: Log.Level, _ message: String, _ fields: JSONObject) {
        let message = Array(message.utf8CString)
        let fields = fields.isEmpty ? nil : Array(JSONValue.object(fields).serialized().utf8CString)
        _ = connection.whileOpen {
            unsafe message.withUnsafeBufferPointer { message in
                guard let text = message.baseAddress else { return Line.ok }
                let length = UInt64(message.count - 1)
                guard let fields else {
                    return unsafe table.pointee.log(table.pointee.context, level.rawValue, text, length, nil, 0)
                }
                return unsafe fields.withUnsafeBufferPointer { fields in
                    unsafe table.pointee.log(
                        table.pointee.context,
                        level.rawValue,
                        text,
                        length,
                        fields.baseAddress,
                        UInt64(fields.count - 1)
                    )
                }
            }
        }
    }
}
