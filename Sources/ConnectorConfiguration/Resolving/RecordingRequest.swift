// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorServices

/// The request of `connector-host record` to the hosts that its command runs: to record one connector.
package struct RecordingRequest: Sendable, Hashable {
    /// The environment variable that announces it to the hosts.
    package static let variable = "CONNECTOR_RECORD"

    /// The leaf's path.
    package var connector: String
    /// The directory in which each process writes a file of its own.
    package var directory: String
    /// The time of day that the plugin reads.
    package var time: Timestamp

    /// Asks to record a connector.
    package init(connector: String, directory: String, time: Timestamp) {
        self.connector = connector
        self.directory = directory
        self.time = time
    }

    /// Reads the request in the environment; nil if there is none.
    package init?(_ environment: Configuration.Environment) {
        guard let text = environment[Self.variable], let value = try? JSONValue(parsing: Array(text.utf8)),
            let connector = value["connector"]?.string, let directory = value["directory"]?.string,
            let time = value["time"]?.string.flatMap(Timestamp.init(parsing:))
        else { return nil }
        self.init(connector: connector, directory: directory, time: time)
    }

    /// The value of the variable.
    package var text: String {
        JSONValue.object([
            "connector": .string(connector), "directory": .string(directory), "time": .string(time.description),
        ]).serialized()
    }

    /// The error for a request that names none of the leaves that would open; nil if it names one.
    func fault(among leaves: [String]) -> ConnectorError? {
        guard !leaves.contains(connector) else { return nil }
        let below = leaves.filter { $0.hasPrefix(connector + "/") }
        return ConnectorError(
            .unknownConnector,
            below.isEmpty
                ? "connector-host record names \"\(connector.excerpt)\", which is not a leaf that would open"
                : "connector-host record names \"\(connector.excerpt)\", which is not a leaf",
            fix: below.isEmpty
                ? suggestion(for: connector, among: leaves)
                : "record one of \(below.prefix(8).map(\.excerpt).joined(separator: ", "))"
        )
    }
}

extension ResolvedConfiguration {
    /// Where a leaf is recorded: as `connector-host record` asks, or as the file says; nil for nowhere.
    package func recording(of connector: Connector) -> RecordingTarget? {
        guard let request, request.connector == connector.path else {
            return connector.recording
        }
        return RecordingTarget(request.directory, isSession: true, time: request.time)
    }
}
