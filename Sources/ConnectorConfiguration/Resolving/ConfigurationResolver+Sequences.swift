// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension ConfigurationResolver {
    /// Reports each `sequence` with two children that take the events of one capability: the second one would get the first one's answer
    /// in place of the events.
    mutating func checkSequences(
        in configuration: Configuration,
        _ leaves: [String: Result<ResolvedLeaf, ConnectorError>]
    ) {
        for connector in configuration.connectors.enabledSelvesAndDescendants where connector.policy == .sequence {
            var taken: Set<CapabilityID> = []
            var shared: Set<CapabilityID> = []
            for child in connector.children {
                let events = Self.eventCapabilities(below: child, leaves)
                shared.formUnion(taken.intersection(events))
                taken.formUnion(events)
            }
            guard let capability = shared.map(\.description).min() else { continue }
            json.connector = connector.path
            defer { json.connector = nil }
            json.report(
                .invalidValue,
                "a sequence cannot deliver the events of \(capability): the second child that takes them would get "
                    + "the first one's answer",
                fix: "write \"policy\": \"all\", so that each child gets the events",
                at: connector.location.appending("policy")
            )
        }
    }

    /// The capabilities whose events an enabled connector, or one below it, takes, as far as their plugins are known.
    private static func eventCapabilities(
        below connector: Connector,
        _ leaves: [String: Result<ResolvedLeaf, ConnectorError>]
    ) -> Set<CapabilityID> {
        [connector].enabledSelvesAndDescendants.reduce(into: []) { found, leaf in
            guard let manifest = try? leaves[leaf.same ?? leaf.path]?.get().manifest else { return }
            for capability in manifest.capabilities where capability.operations.contains(where: \.isDelivered) {
                found.insert(capability.id)
            }
        }
    }
}
