// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

/// Resolves the names in `after` and `with` to connector paths.
struct DependencyReader {
    /// Collects errors.
    var json: JSONReader

    /// Replaces every name in `after` and `with` with a path, and reports unknown names and cycles.
    mutating func resolve(_ connectors: inout [Connector]) {
        let all = connectors.selvesAndDescendants
        guard all.contains(where: { !$0.targets.isEmpty }) else { return }
        let paths = Paths(all.map(\.path))
        var locations: [DependencyGraph.Wait: JSONPath] = [:]
        resolve(&connectors, among: paths, locations: &locations)
        var graph = DependencyGraph(connectors)
        for cycle in graph.cycles() {
            guard let first = cycle.waits.first, json.hasRoom() else { continue }
            json.connector = first.waiting
            json.report(
                .dependencyCycle,
                "connectors wait for each other: \(cycle)",
                fix: "remove one of these from \"after\"\(all.contains { !$0.with.isEmpty } ? " or \"with\"" : "")",
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

    private mutating func resolve(
        _ siblings: inout [Connector],
        among paths: Paths,
        locations: inout [DependencyGraph.Wait: JSONPath]
    ) {
        let names = Set(siblings.map(\.name))
        var sortedNames: [String]?
        /// The path of the connector that a name means; nil, with an error reported, if there is none that it may wait for.
        func target(_ name: String, of connector: Connector, _ key: String, at location: JSONPath) -> String? {
            let parent = connector.path.split(separator: "/").dropLast().joined(separator: "/")
            let sibling = parent.isEmpty ? name : "\(parent)/\(name)"
            let target = names.contains(name) ? sibling : name
            guard paths.all.contains(target) else {
                guard json.hasRoom() else { return nil }
                let candidates = sortedNames ?? names.sorted()
                sortedNames = candidates
                let others = [candidates, paths.sorted].joined().lazy
                    .filter { $0 != connector.name && $0 != connector.path }
                json.report(
                    .unknownConnector,
                    "\"\(key)\" names \"\(name.excerpt)\", which does not exist",
                    fix: suggestion(for: name, among: others),
                    at: location
                )
                return nil
            }
            if let problem = problem(with: target, of: connector, key == "with" ? "use" : "wait for") {
                guard json.hasRoom() else { return nil }
                json.report(.dependencyCycle, problem, at: location)
                return nil
            }
            locations[DependencyGraph.Wait(waiting: connector.path, target: target)] = location
            return target
        }
        for index in siblings.indices {
            let connector = siblings[index]
            var resolved: [String] = []
            var known: Set<String> = []
            json.connector = connector.path
            for (number, name) in connector.after.enumerated() {
                let location = connector.location.appending("after").appending(number)
                guard let target = target(name, of: connector, "after", at: location),
                    known.insert(target).inserted
                else { continue }
                resolved.append(target)
            }
            var with: [String: String] = [:]
            for (use, name) in connector.with.sorted(by: { $0.key < $1.key }) {
                let location = connector.location.appending("with").appending(use)
                with[use] = target(name, of: connector, "with", at: location)
            }
            var kind = connector.kind
            if case .composite(let policy, var children) = kind {
                resolve(&children, among: paths, locations: &locations)
                kind = .composite(policy: policy, children: children)
            }
            siblings[index] = connector.changing { ($0.after, $0.with, $0.kind) = (resolved, with, kind) }
        }
    }

    /// Why a connector cannot wait for or use another one; nil if it can.
    ///
    /// - Parameter verb: What the connector would do, such as `wait for`.
    private func problem(with target: String, of connector: Connector, _ verb: String) -> String? {
        if target == connector.path { return "a connector cannot \(verb) itself" }
        if connector.path.hasPrefix(target + "/") {
            return "a connector cannot \(verb) \"\(target)\", which contains it"
        }
        if target.hasPrefix(connector.path + "/") {
            return "a connector cannot \(verb) \"\(target)\", which it contains"
        }
        return nil
    }
}
