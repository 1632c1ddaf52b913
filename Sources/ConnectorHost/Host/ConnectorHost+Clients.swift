// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorServices

/// Clients of capabilities; applications never call vendors.
///
/// Each function finds a connector by its path. It throws `unknown-connector` if no connector has the path, and
/// `unsupported` if the connector lacks the capability. A connector whose plugin was not found has a client too, because
/// a reload may bring the plugin. A client stays valid for the lifetime of the host; its calls fail with `not-open` while
/// the gate is not open.
extension ConnectorHost {
    /// Records user actions, through a connector that offers `analytics/1`.
    public func analytics(_ path: String) throws(ConnectorError) -> AnalyticsClient {
        AnalyticsClient(try target(path, capability: "analytics/1"))
    }

    /// Reports crashes and errors, through a connector that offers `crash/1`.
    public func crash(_ path: String) throws(ConnectorError) -> CrashClient {
        CrashClient(try target(path, capability: "crash/1"))
    }

    /// Stores and finds records, through a connector that offers `database/1`.
    public func database(_ path: String) throws(ConnectorError) -> DatabaseClient {
        DatabaseClient(try target(path, capability: "database/1"))
    }

    /// Finds places, through a connector that offers `geocoder/1`.
    public func geocoder(_ path: String) throws(ConnectorError) -> GeocoderClient {
        GeocoderClient(try target(path, capability: "geocoder/1"))
    }

    /// Reads, changes and watches settings, through a connector that offers `settings/1`.
    public func settings(_ path: String) throws(ConnectorError) -> SettingsClient {
        SettingsClient(try target(path, capability: "settings/1"), listen: listener(to: path))
    }

    /// Reads sensors, through a connector that offers `sensor/1`.
    public func sensor(_ path: String) throws(ConnectorError) -> SensorClient {
        SensorClient(try target(path, capability: "sensor/1"), listen: listener(to: path))
    }

    /// Puts, reads and lists files, through a connector that offers `files/1`.
    public func files(_ path: String) throws(ConnectorError) -> FilesClient {
        FilesClient(try target(path, capability: "files/1"), dependencies.calls.workers)
    }

    /// Returns a function that starts listening to a connector's events on each call.
    private func listener(to path: String) -> @Sendable () -> ConnectorEvents {
        { [events = dependencies.services.events, current] in
            events.events(among: current.paths(below: path))
        }
    }

    /// Calls any operation of any connector by name.
    public func gate(_ path: String) throws(ConnectorError) -> GateClient {
        GateClient(try target(path))
    }

    /// The operations of every leaf whose plugin was found.
    package var operations: OperationList {
        OperationList(
            current.tree.nodes.compactMap { node in
                node.manifest.map { (node.path, node.places, $0.callable) }
            }
        )
    }
}
