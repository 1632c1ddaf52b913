// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The `events/1` service: see services/events.h.
enum EventsTable {
    private static let emit:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
        ) -> Int32 = { context, name, nameLength, json, jsonLength in
            guard let services = unsafe ServiceTables.at(context) else { return Int32(CONNECTOR_MISUSE) }
            let (nameLimit, jsonLimit) = (Int(CONNECTOR_EVENT_NAME_LIMIT), Int(CONNECTOR_EVENT_JSON_LIMIT))
            guard nameLength <= UInt64(nameLimit), jsonLength <= UInt64(jsonLimit) else {
                return Int32(CONNECTOR_TOO_LARGE)
            }
            guard let name = unsafe PluginMemory.text(name, nameLength, limit: nameLimit),
                EventsTable.isName(name.utf8), unsafe json != nil || jsonLength == 0
            else { return Int32(CONNECTOR_MISUSE) }
            guard services.mayHaveListeners else { return Int32(CONNECTOR_OK) }
            guard unsafe json != nil else {
                services.emit(name, .null, json: nil)
                return Int32(CONNECTOR_OK)
            }
            guard let text = unsafe PluginMemory.bytes(json, jsonLength, limit: jsonLimit),
                let payload = try? JSONValue(parsing: text)
            else { return Int32(CONNECTOR_MISUSE) }
            services.emit(name, payload, json: text)
            return Int32(CONNECTOR_OK)
        }

    /// Whether a name is a letter, then letters, digits, `.`, `_` and `-`.
    private static func isName(_ name: some Collection<UInt8>) -> Bool {
        guard let first = name.first, first.isLetter else { return false }
        return name.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }

    /// The table for one instance.
    static func table(_ context: UnsafeMutableRawPointer) -> connector_events {
        unsafe connector_events(
            struct_size: UInt32(MemoryLayout<connector_events>.size),
            flags: 0,
            context: context,
            emit: fitting(emit)
        )
    }
}
