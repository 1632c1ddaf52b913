// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost

/// A site: a place with sensors. The file of connectors says which there are.
public struct Site: Sendable, Hashable, Identifiable {
    /// The name, unique among the sites.
    public let name: String
    /// The connectors that measure at the site.
    public let sensors: [String]

    /// The name.
    public var id: String { name }

    /// Creates a site.
    public init(_ name: String, sensors: [String]) {
        self.name = name
        self.sensors = sensors
    }
}

/// What the watch needs of the outside world: sites, and what their sensors say.
public protocol SiteServer: Sendable {
    /// Every site, in order.
    var sites: [Site] { get }
    /// The readings of a connector until now, oldest first.
    func history(of sensor: String) async throws -> [SensorReading]
    /// New readings of every connector, as they are measured; listening begins with this call.
    func readings() -> AsyncStream<(sensor: String, readings: [SensorReading])>
}

/// The sites in the file of a host: the children of its connector `sites`, each with the sensors below it.
public struct HostSites: SiteServer {
    private let host: ConnectorHost
    /// The children of the connector `sites`.
    public let sites: [Site]

    /// How many readings of each sensor are wanted.
    private static let limit = 120

    /// Finds the sites.
    public init(_ host: ConnectorHost) {
        self.host = host
        let root = host.configuration.connectors.first { $0.name == "sites" }
        sites = (root?.children ?? []).filter(\.isEnabled).map { site in
            Site(site.name, sensors: site.children.filter(\.isEnabled).map(\.path))
        }
    }

    /// Asks the gate.
    public func history(of sensor: String) async throws -> [SensorReading] {
        let client = try host.sensor(sensor)
        var readings: [SensorReading] = []
        for latest in try await client.latest() {
            readings += try await client.range(SensorRange(latest.sensor, limit: Self.limit))
        }
        return readings
    }

    /// Listens to the events of every gate below `sites`.
    public func readings() -> AsyncStream<(sensor: String, readings: [SensorReading])> {
        let events = host.events(of: "sites")
        return AsyncStream { continuation in
            let task = Task {
                for await event in events where event.name == SensorReading.event {
                    // Readings without a unit or a time are the plugin's fault, and are left out.
                    guard let readings = try? SensorReading.readings(json: event.payload) else { continue }
                    continuation.yield((event.connector, readings))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
