// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost
internal import ConnectorHostTesting
internal import Foundation

/// The host of the watch: with the sensors of the file, or with a simulated world in their place.
public enum SiteWatchHost {
    /// The leaves that a file of answers stands in for, as `connectors.json` says in `simulate`.
    private static let worlds = [
        "sites/office/outside": "sites/outside.json", "sites/cellar/climate": "sites/climate.json",
        "sites/cellar/alarm": "sites/alarm.json",
    ]

    /// Makes the host of the file: its sensors measure.
    ///
    /// - Parameter directory: The directory with `connectors.json`.
    public static func real(in directory: String = ".") throws -> ConnectorHost {
        try ConnectorHost(file: "\(directory)/connectors.json")
    }

    /// Makes the host of the same file whose remote sensors are simulated: their readings, and what goes wrong, come from timelines.
    ///
    /// - Parameters:
    ///   - directory: The directory with `connectors.json`.
    ///   - clock: What the timelines follow: the system's clock for people, one that a test moves for tests.
    ///   - stateDirectory: Where settings are kept; nil for the user's.
    public static func simulated(
        in directory: String = ".",
        clock: any HostClock = SystemHostClock(),
        stateDirectory: String? = nil
    ) throws -> ConnectorHost {
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
        }
        let plugins = ["settings-file", "folder", "system-sensor", "poll"].map { plugin in
            "\(directory)/../../Plugins/\(plugin)/lib\(plugin).so"
        }
        return try ConnectorHost.testing(
            text("connectors.json"),
            plugins: plugins,
            simulating: worlds.mapValues { try JSONValue(parsing: text($0)) },
            environment: ["PICTURES": "\(directory)/pictures"],
            clock: clock,
            stateDirectory: stateDirectory
        )
    }
}
