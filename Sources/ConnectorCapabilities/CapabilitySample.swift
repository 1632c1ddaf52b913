// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Samples of what the operations of the standard capabilities return, and of what their events carry.
///
/// They are values of the models, so that they have the form that clients read.
package enum CapabilitySample {
    /// A sample result of an operation; nil if the operation is unknown, or returns nothing or bytes.
    ///
    /// - Parameter capability: The capability's name and version, such as `geocoder/1`.
    package static func result(of operation: String, in capability: String) -> JSONValue? {
        switch (capability, operation) {
        case ("analytics/1", "deliver"), ("crash/1", "deliver"):
            let answers: [DeliveryAnswer] = [
                .accepted, .rejected("the event has no user"), .retry("too many requests", after: .seconds(30)),
            ]
            return .array(answers.map(\.json))
        case ("crash/1", "exception"), ("crash/1", "message"): return ["id": "8a1cf7de0b7f4f6c9a3b1d2e4f506172"]
        case ("database/1", "query"): return DatabasePage(records: [record], cursor: "bjE").json
        case ("database/1", "create"), ("database/1", "get"), ("database/1", "replace"), ("database/1", "update"):
            return record.json
        case ("geocoder/1", _): return place.map { [$0.json] }
        case ("settings/1", "get"): return "dark"
        case ("settings/1", "list"): return ["theme": "dark", "window.width": 1280]
        case ("sensor/1", _): return readings
        case ("files/1", "head"), ("files/1", "completeUpload"), ("files/1", "copy"): return file.json
        case ("files/1", "list"): return FilePage(files: [file], hasMore: false).json
        case ("files/1", "createUpload"):
            return FileUpload(id: "0197f0c2-9a51-7c3e-8c1f-3f1d5f8e2a10", partSize: 1 << 20).json
        default: return nil
        }
    }

    /// The events that plugins of a capability emit, with a sample of each payload.
    package static func events(of capability: String) -> [(name: String, payload: JSONValue)] {
        switch capability {
        case "sensor/1": readings.map { [(SensorReading.event, $0)] } ?? []
        case "settings/1": [(SettingsChange.event, ["theme": "dark", "nickname": nil])]
        default: []
        }
    }

    private static let moment = Timestamp(nanoseconds: 1_769_851_800_000_000_000)
    private static let record = DatabaseRecord(id: "n1", version: "7", data: ["title": "Kept", "tags": ["a", "b"]])
    private static let file = FileEntry(
        path: "reports/2026.pdf",
        size: 48211,
        modified: moment,
        tag: "1a2b",
        contentType: "application/pdf"
    )

    private static var place: Place? {
        var components = AddressComponents()
        components.city = "Bern"
        components.country = "Switzerland"
        components.countryCode = "CH"
        return Coordinate(latitude: 46.9466, longitude: 7.4446).map { coordinate in
            Place(
                coordinate,
                name: "Bundeshaus",
                formattedAddress: "Bundesplatz 3, 3005 Bern, Switzerland",
                components: components,
                provider: "nominatim",
                attribution: "© OpenStreetMap contributors",
                id: "way/23731063"
            )
        }
    }

    private static var readings: JSONValue? {
        (try? SensorReading("load.1m", 0.42, unit: "1", at: moment)).map { [$0.json] }
    }
}
