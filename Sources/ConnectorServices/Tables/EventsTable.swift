// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform

/// The `events/1` service: see services/events.h.
package enum EventsTable {
    private static let emit:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
        ) -> Int32 = { context, name, nameLength, json, jsonLength in
            guard let gate = unsafe GateServices.at(context) else { return Int32(CONNECTOR_MISUSE) }
            guard nameLength <= UInt64(CONNECTOR_EVENT_NAME_LIMIT), jsonLength <= UInt64(CONNECTOR_EVENT_JSON_LIMIT)
            else { return Int32(CONNECTOR_TOO_LARGE) }
            guard let name = unsafe PluginMemory.text(name, nameLength, limit: Int(CONNECTOR_EVENT_NAME_LIMIT)),
                EventName.isValid(name.utf8), unsafe json != nil || jsonLength == 0
            else { return Int32(CONNECTOR_MISUSE) }
            let path = gate.context.path
            guard gate.host.events.hasListeners(for: path) else { return Int32(CONNECTOR_OK) }
            var payload = JSONValue.null
            if let json = unsafe json {
                guard let text = unsafe PluginMemory.text(json, jsonLength, limit: Int(CONNECTOR_EVENT_JSON_LIMIT)),
                    let value = try? JSONValue(parsing: text)
                else { return Int32(CONNECTOR_MISUSE) }
                payload = gate.context.redactor.redact(value)
            }
            let time = gate.host.clock.wallTime()
            gate.host.events.publish(
                ConnectorEvent(connector: path, name: gate.context.redactor.redact(name), payload: payload, time: time)
            )
            return Int32(CONNECTOR_OK)
        }

    /// The table for one gate.
    package static func table(context: UnsafeMutableRawPointer) -> connector_events {
        unsafe connector_events(
            struct_size: UInt32(MemoryLayout<connector_events>.size),
            flags: 0,
            context: context,
            emit: fitting(emit)
        )
    }
}
