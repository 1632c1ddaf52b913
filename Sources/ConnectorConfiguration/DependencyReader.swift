// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

/// Resolves the names in `after` to the siblings or paths they refer to.
struct DependencyReader {
    /// Collects faults.
    var json: JSONReader

    /// Replaces every name in `after` with a path, and reports unknown names and circles.
    mutating func resolve(_ connectors: inout [Connector]) {
        let all = connectors.selvesAndDescendants
        guard all.contains(where: { !$0.after.isEmpty }) else { return }
        let paths = Paths(all.map(\.path))
        var places: [DependencyGraph.Wait: JSONPath] = [:]
        resolve(&connectors, among: paths, places: &places)
        var graph = DependencyGraph(connectors)
        for cycle in graph.cycles() {
            guard let first = cycle.waits.first, json.hasRoom() else { continue }
            json.connector = first.waiting
            json.report(
                .dependencyCycle,
                "connectors wait for each other: \(Self.shown(cycle.path).joined(separator: " → "))",
                fix: "remove one of these from \"after\"",
                at: places[first] ?? JSONPath()
            )
        }
        json.connector = nil
    }

    /// The paths of all connectors, to look one up and to suggest one.
    private struct Paths {
        let sorted: [String]
        let all: Set<String>

        init(_ paths: [String]) {
            all = Set(paths)
            sorted = all.sorted()
        }
    }

    /// A circle's path, shortened in its middle if it is long.
    private static func shown(_ path: [String]) -> [String] {
        path.count <= 12 ? path : path.prefix(8) + ["(\(path.count - 10) more)"] + path.suffix(2)
    }

    private mutating func resolve(
        _ siblings: inout [Connector],
        among paths: Paths,
        places: inout [DependencyGraph.Wait: JSONPath]
    ) {
        let names = Set(siblings.map(\.name))
        var sortedNames: [String]?
        for index in siblings.indices {
            let connector = siblings[index]
            let parent = connector.path.split(separator: "/").dropLast().joined(separator: "/")
            var resolved: [String] = []
            var known: Set<String> = []
            json.connector = connector.path
            for (number, name) in connector.after.enumerated() {
                let place = connector.location.appending("after").appending(number)
                let sibling = parent.isEmpty ? name : "\(parent)/\(name)"
                let target = names.contains(name) ? sibling : name
                guard paths.all.contains(target) else {
                    guard json.hasRoom() else { continue }
                    let candidates = sortedNames ?? names.sorted()
                    sortedNames = candidates
                    let others = [candidates, paths.sorted].joined().lazy
                        .filter { $0 != connector.name && $0 != connector.path }
                    json.report(
                        .unknownConnector,
                        "\"after\" names \"\(name.excerpt)\", which does not exist",
                        fix: suggestion(for: name, among: others),
                        at: place
                    )
                    continue
                }
                if let objection = objection(to: target, of: connector) {
                    guard json.hasRoom() else { continue }
                    json.report(.dependencyCycle, objection, at: place)
                    continue
                }
                guard known.insert(target).inserted else { continue }
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
