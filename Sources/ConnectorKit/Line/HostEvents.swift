// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The host's `events/1`.
@safe
struct HostEvents: @unchecked Sendable {
    // Sendable: the table is constant until `destroy` (host.h), its function may be called from any thread (events.h), and
    // the connection refuses calls afterwards.
    private let connection: HostConnection
    private let table: UnsafePointer<connector_events>

    init(_ connection: HostConnection, _ table: UnsafePointer<connector_events>) {
        self.connection = connection
        unsafe self.table = unsafe table
    }

    /// The service in the form that authors use.
    var events: Events {
        Events { name, value throws(PluginError) in try emit(name, value) }
    }

    private func emit(_ name: String, _ value: JSONValue) throws(PluginError) {
        let json = value == .null ? [] : value.utf8()
        let status = unsafe BorrowedText(name).withPointer { name, nameLength in
            unsafe BorrowedText(json).withPointer { json, jsonLength in
                connection.whileOpen {
                    unsafe table.pointee.emit(
                        table.pointee.context,
                        name,
                        nameLength,
                        jsonLength == 0 ? nil : json,
                        jsonLength
                    )
                }
            }
        }
        guard let status else { throw PluginError(.notOpen, "the gate is closing") }
        guard status == Line.ok else {
            let isTooLarge = status == PluginStatus.tooLarge.rawValue
            let reason =
                isTooLarge
                ? ": its name has \(name.utf8.count) bytes, and may have \(CONNECTOR_EVENT_NAME_LIMIT); its JSON has \(json.count), and "
                    + "may have \(CONNECTOR_EVENT_JSON_LIMIT)"
                : ""
            throw PluginError(
                PluginStatus(rawValue: status),
                "the host refused the event \"\(name)\"\(reason)",
                domain: PluginError.hostDomain
            )
        }
    }
}
