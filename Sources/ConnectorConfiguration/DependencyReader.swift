// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

/// Resolves the names in `after` to connector paths.
struct DependencyReader {
    /// Collects errors.
    var json: JSONReader

    /// Replaces every name in `after` with a path, and reports unknown names and cycles.
    mutating func resolve(_ connectors: inout [Connector]) {
        let all = connectors.selvesAndDescendants
        guard all.contains(where: { !$0.after.isEmpty }) else { return }
        let paths = Paths(all.map(\.path))
        var locations: [DependencyGraph.Wait: JSONPath] = [:]
        resolve(&connectors, among: paths, locations: &locations)
        var graph = DependencyGraph(connectors)
        for cycle in graph.cycles() {
            guard let first = cycle.waits.first, json.hasRoom() else { continue }
            json.connector = first.waiting
            json.report(
                .dependencyCycle,
                "connectors wait for each other: \(Self.shown(cycle.path).joined(separator: " → "))",
                fix: "remove one of these from \"after\"",
                at: locations[first] ?? JSONPath()
            )
        }
        json.connector = nil
    }

    /// The paths of all connectors, for look-up and for suggestions.
    private struct Paths {
        let sorted: [String]
        let all: Set<String>

        init(_ paths: [String]) {
            all = Set(paths)
            sorted = all.sorted()
        }
    }

    /// A cycle's path, abbreviated in the middle if it is long.
    private static func shown(_ path: [String]) -> [String] {
        path.count <= 12 ? path : path.prefix(8) + ["(\(path.count - 10) more)"] + path.suffix(2)
    }

    private mutating func resolve(
        _ siblings: inout [Connector],
        among paths: Paths,
        locations: inout [DependencyGraph.Wait: JSONPath]
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
                let location = connector.location.appending("after").appending(number)
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
                        at: location
                    )
                    continue
                }
                if let objection = objection(to: target, of: connector) {
                    guard json.hasRoom() else { continue }
                    json.report(.dependencyCycle, objection, at: location)
                    continue
                }
                guard known.insert(target).inserted else { continue }
                resolved.append(target)
                locations[DependencyGraph.Wait(waiting: connector.path, target: target)] = location
            }
            siblings[index].after = resolved
            if case .composite(let policy, var children) = connector.kind {
                resolve(&children, among: paths, locations: &locations)
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
