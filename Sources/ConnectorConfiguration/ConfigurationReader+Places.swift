// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

/// Checks the connectors that are further places of a leaf.
extension ConfigurationReader {
    /// Reports every `same` that does not name a leaf.
    mutating func checkPlaces(_ connectors: [Connector]) {
        let all = connectors.selvesAndDescendants
        guard all.contains(where: { $0.same != nil }) else { return }
        let known = Dictionary(all.map { ($0.path, $0) }) { first, _ in first }
        let leaves = all.filter { if case .leaf = $0.kind { true } else { false } }.map(\.path)
        for connector in all {
            guard let path = connector.same, json.hasRoom() else { continue }
            let (message, fix): (String, String?)
            switch known[path]?.kind {
            case .leaf: continue
            case nil:
                message = "\"same\" names \"\(path.excerpt)\", which does not exist"
                fix = suggestion(for: path, among: leaves)
            case .composite:
                message = "\"same\" names \"\(path.excerpt)\", which is a composite"
                fix = "name one of its leaves"
            case .same where path == connector.path:
                message = "a connector cannot be another place of itself"
                fix = "name a leaf with a \"plugin\""
            case .same(let target):
                message = "\"same\" names \"\(path.excerpt)\", which is itself another place"
                let isLeaf = leaves.contains(target)
                fix = isLeaf ? "write \"same\": \"\(target)\"" : "name a leaf with a \"plugin\""
            }
            json.connector = connector.path
            json.report(
                known[path] == nil ? .unknownConnector : .invalidValue,
                message,
                fix: fix,
                at: connector.location.appending("same")
            )
        }
        json.connector = nil
    }
}
