// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A request for the readings of one sensor between two moments.
///
/// ```json
/// {"sensor": "load.1m", "from": "2026-01-31T09:00:00Z", "to": "2026-01-31T10:00:00Z", "limit": 60}
/// ```
public struct SensorRange: Sendable, Hashable {
    /// The sensor's name.
    public var sensor: String
    /// The start of the range, included; nil for the oldest reading.
    public var from: Timestamp?
    /// The end of the range, included; nil for now.
    public var to: Timestamp?
    /// The most readings, 1 to 10,000; the newest of the range are kept.
    public var limit: Int

    /// The allowed limits.
    public static let limitRange = 1...10_000

    /// Creates a request.
    public init(_ sensor: String, from: Timestamp? = nil, to: Timestamp? = nil, limit: Int = 1000) {
        self.sensor = sensor
        self.from = from
        self.to = to
        self.limit = limit
    }

    /// Reads a request.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` for any unknown member, and if `from` is after `to`.
    public init(json: JSONValue, path: String = "range") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        try reader.checkNames(Self.members.map(\.name))
        self.init(
            try reader.requiredString("sensor"),
            from: try reader.timestamp("from"),
            to: try reader.timestamp("to"),
            limit: try reader.integer("limit", within: Self.limitRange) ?? 1000
        )
        if let from, let to, to < from { throw ConnectorError(.invalid, "\(path).from is after \(path).to") }
    }

    /// The JSON form that operations take.
    public var json: JSONValue {
        var object: JSONObject = ["sensor": .string(sensor)]
        object.set("from", from)
        object.set("to", to)
        object.set("limit", limit)
        return .object(object)
    }

    /// The members of a request, most commonly used first.
    static let members = [
        ModelMember("sensor", "the sensor's name", isRequired: true, example: "load.1m"),
        ModelMember("from", "the first moment; the oldest by default", example: "2026-01-31T09:00:00Z"),
        ModelMember("to", "the last moment; now by default", example: "2026-01-31T10:00:00Z"),
        ModelMember("limit", "the most readings, 1 to 10000, the newest; 1000 by default", .number),
    ]
}
