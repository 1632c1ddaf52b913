// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest

/// Resolves the names in `after` to the siblings or paths they refer to.
struct DependencyReader {
    /// Collects faults.
    var json: JSONReader

    /// Replaces every name in `after` with a path, and reports unknown names and circles.
    mutating func resolve(_ connectors: inout [Connector]) {
        let all = connectors.flatMap(\.selfAndDescendants)
        guard all.contains(where: { !$0.after.isEmpty }) else { return }
        let paths = Set(all.map(\.path))
        var places: [DependencyGraph.Wait: JSONPath] = [:]
        resolve(&connectors, among: paths, places: &places)
        for cycle in DependencyGraph(connectors).cycles() {
            guard let first = cycle.waits.first else { continue }
            json.connector = first.waiting
            json.report(
                .dependencyCycle,
                "connectors wait for each other: \(cycle.path.joined(separator: " → "))",
                fix: "remove one of these from \"after\"",
                at: places[first] ?? JSONPath()
            )
        }
        json.connector = nil
    }

    private mutating func resolve(
        _ siblings: inout [Connector],
        among paths: Set<String>,
        places: inout [DependencyGraph.Wait: JSONPath]
    ) {
        let names = Set(siblings.map(\.name))
        for index in siblings.indices {
            let connector = siblings[index]
            let parent = connector.path.split(separator: "/").dropLast().joined(separator: "/")
            var resolved: [String] = []
            json.connector = connector.path
            for (number, name) in connector.after.enumerated() {
                let place = connector.location.appending("after").appending(number)
                let sibling = parent.isEmpty ? name : "\(parent)/\(name)"
                let target = names.contains(name) ? sibling : name
                guard paths.contains(target) else {
                    json.report(
                        .unknownConnector,
                        "\"after\" names \"\(name)\", which does not exist",
                        fix: suggestion(
                            for: name,
                            among: names.union(paths).subtracting([connector.name, connector.path]).sorted()
                        ),
                        at: place
                    )
                    continue
                }
                if let objection = objection(to: target, of: connector) {
                    json.report(.dependencyCycle, objection, at: place)
                    continue
                }
                guard !resolved.contains(target) else { continue }
                resolved.append(target)
                places[DependencyGraph.Wait(waiting: connector.path, target: target)] = place
            }
            siblings[index].after = resolved
            if case .composite(let policy, var children) = connector.kind {
                resolve(&children, among: paths, places: &places)
                siblings[index].kind = .composite(policy: policy, children: children)
            }
        }
    }

    private func objection(to target: String, of connector: Connector) -> String? {
        if target == connector.path { return "a connector cannot wait for itself" }
        if connector.path.hasPrefix(target + "/") {
            return "a connector cannot wait for \"\(target)\", which contains it"
        }
        if target.hasPrefix(connector.path + "/") {
            return "a connector cannot wait for \"\(target)\", which it contains"
        }
        return nil
    }
}
