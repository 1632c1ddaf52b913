// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import ConnectorServices

/// Reads sensors through a connector of `connectors.json`.
///
/// ```swift
/// let sensors = try host.sensor("system")
/// for try await readings in sensors.readings() { show(readings) }
/// ```
///
/// A call that fails throws a `ConnectorError`: `missing` if there is no such sensor; `misbehaved` for a reading
/// without a unit; `not-open`; `timed-out`; `cancelled` if the caller's task was cancelled.
///
/// A client gives access to its own connector only. Use it from any thread.
public struct SensorClient: Sendable {
    private let target: ClientTarget
    private let listen: @Sendable () -> ConnectorEvents

    init(_ target: ClientTarget, listen: @escaping @Sendable () -> ConnectorEvents) {
        self.target = target
        self.listen = listen
    }

    /// Returns the latest reading of each sensor, or of one.
    public func latest(
        _ sensor: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [SensorReading] {
        let texts: [(name: String, text: [UInt8]?)] = [("sensor", sensor.map { Array($0.utf8) })]
        return try await target.call("latest", texts: texts, options) { json throws(ConnectorError) in
            try SensorReading.readings(json: json)
        }
    }

    /// Returns the readings of one sensor in a range.
    ///
    /// - Returns: The readings, oldest first; empty if there are none in the range.
    public func range(
        _ range: SensorRange,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [SensorReading] {
        try await target.call("range", texts: [("range", range.json.utf8())], options) { json throws(ConnectorError) in
            try SensorReading.readings(json: json)
        }
    }

    /// New readings, as they are measured.
    ///
    /// Listening begins with this call, and ends when the host closes or the sequence is released. A slow consumer
    /// loses the oldest readings; ``range(_:options:)`` has them.
    ///
    /// - Returns: A sequence for one consumer.
    public func readings() -> SensorReadings {
        SensorReadings(listen())
    }
}

/// New readings of a connector's sensors: see ``SensorClient/readings()``.
public struct SensorReadings: AsyncSequence, Sendable {
    /// Readings measured together.
    public typealias Element = [SensorReading]
    /// Thrown for readings that break the capability's rules.
    public typealias Failure = ConnectorError

    private let events: ConnectorEvents

    init(_ events: ConnectorEvents) {
        self.events = events
    }

    /// Starts consuming readings.
    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator())
    }

    /// Awaits each set of readings; finishes when the task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        private var events: ConnectorEvents.Iterator

        init(events: ConnectorEvents.Iterator) {
            self.events = events
        }

        /// Awaits the next readings; nil at the end.
        ///
        /// - Throws: `misbehaved` for readings that break the rules; the next call continues with the readings after
        ///   them.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ConnectorError) -> Element? {
            while let event = await events.next(isolation: actor) {
                guard event.name == SensorReading.event else { continue }
                do throws(ConnectorError) {
                    return try SensorReading.readings(json: event.payload)
                } catch {
                    throw ConnectorError(
                        .misbehaved,
                        "the event \"\(event.name)\" breaks the capability's rules: \(error.message)",
                        connector: event.connector
                    )
                }
            }
            return nil
        }
    }
}
