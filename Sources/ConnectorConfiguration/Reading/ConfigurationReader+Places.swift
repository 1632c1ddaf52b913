// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorServices

/// Checks what connectors say about each other, once all have been read.
extension ConfigurationReader {
    /// Reports every `same` that does not name a leaf, or names a disabled one where the order of places matters.
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
        checkRoles(connectors, known)
        json.connector = nil
    }

    /// Reports composites that lack children, because those stand for disabled leaves: one that tells its children apart, and a quorum
    /// that the rest cannot reach.
    private mutating func checkRoles(_ connectors: [Connector], _ known: [String: Connector]) {
        let enabled = connectors.enabledSelvesAndDescendants
        let paths = Set(enabled.map(\.path))
        for connector in enabled {
            guard let policy = connector.policy else { continue }
            let children = connector.children.filter(\.isEnabled)
            let absent = children.filter { child in
                child.same.map { known[$0]?.isOwnLeaf ?? false && !paths.contains($0) } ?? false
            }
            // Places of one leaf are one child.
            let count = max(1, Set(children.map { $0.same ?? $0.path }).subtracting(absent.compactMap(\.same)).count)
            if let quorum = policy.quorum, quorum > count, json.hasRoom() {
                json.connector = connector.path
                json.report(
                    .invalidValue,
                    "quorum is \(quorum), outside 1 to \(count): places of one leaf count once, those of a disabled one do not",
                    at: connector.location.appending("quorum")
                )
            }
            // Fewer than two children are an error already; so are three of a canary.
            guard policy.firstIsRequired, let first = absent.first, let target = first.same, children.count >= 2,
                children.count - absent.count < 2 || first.path == children.first?.path, json.hasRoom()
            else { continue }
            json.connector = first.path
            json.report(
                .invalidValue,
                "the policy \"\(policy)\" needs this connector, but \"same\" names \"\(target.excerpt)\", which is disabled",
                fix: "enable \"\(target.excerpt)\", or name another leaf",
                at: first.location.appending("same")
            )
        }
    }

    /// Reports what two connectors claim and only one of them can have: a former path, and the file of a recording.
    mutating func checkClaims(_ connectors: [Connector]) {
        checkClaims(connectors, "was", \.was, as: "is already the former path of")
        checkClaims(connectors, "record", \.recording?.path, as: "already has the recording of")
    }

    private mutating func checkClaims(
        _ connectors: [Connector],
        _ key: String,
        _ value: (Connector) -> String?,
        as relation: String
    ) {
        var owners: [String: JSONPath] = [:]
        for connector in connectors.enabledSelvesAndDescendants {
            guard let claim = value(connector) else { continue }
            let here = connector.location.appending(key)
            guard let earlier = owners[claim] else {
                owners[claim] = here
                continue
            }
            guard json.hasRoom() else { continue }
            let owner = json.position(of: earlier).map { "the connector at \($0)" } ?? "another connector"
            json.connector = connector.path
            json.report(
                .duplicateName,
                "\"\(key)\" names \"\(claim.excerpt)\", which \(relation) \(owner)",
                fix: "remove one of them",
                at: here
            )
        }
        json.connector = nil
    }
}
