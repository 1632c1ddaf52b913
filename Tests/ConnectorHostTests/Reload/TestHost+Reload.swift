// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConfiguration
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost

extension TestHost {
    /// Takes up a configuration with these connectors.
    @discardableResult
    func reload(_ connectors: String..., mode: String = "atomic") async throws -> Reload {
        await host.reload(try Self.configuration(connectors, mode: mode))
    }

    /// A configuration with these connectors, whose plugins run where those of a ``TestHost`` do.
    static func configuration(_ connectors: [String], mode: String = "atomic") throws -> Configuration {
        let isolation = PendingCalls.areRemote ? #", "isolation": "process""# : ""
        let all = (connectors + PendingCalls.leaves(beside: connectors)).joined(separator: ",")
        return try Configuration(
            parsing: #"{"version": 1, "reload": "\#(mode)"\#(isolation), "connectors": [\#(all)]}"#,
            environment: Configuration.Environment([:])
        )
    }

    /// How many instances of the gates that a test named were created, closed and destroyed, as another gate of the plugin knows.
    func lives(_ name: String) async throws -> [String: Int64] {
        let counts = try await call("other", "lives", ["name": .string(name)])
        return (counts.object?.members ?? []).reduce(into: [:]) { $0[$1.name] = $1.value.integer }
    }

    /// Waits until instances have been created, closed and destroyed.
    func lives(_ name: String, become expected: [String: Int64]) async throws {
        while try await lives(name) != expected { try await Task.checkedYield() }
    }
}

/// Tests that reload a host with a leaf whose instance they know by a name, and another leaf.
protocol ReloadedLeaves {
    /// The name of the leaf's instance.
    var name: String { get }
}

extension ReloadedLeaves {
    /// The leaf, in a file.
    func leaf(_ path: String = "gate", _ config: JSONObject = [:], settings: String = #""probe": "off""#) -> String {
        var config = config
        config["name"] = .string(name)
        return TestHost.leaf(path, config, settings: settings)
    }

    /// The other leaf, in a file.
    var other: String { TestHost.leaf("other") }
}
