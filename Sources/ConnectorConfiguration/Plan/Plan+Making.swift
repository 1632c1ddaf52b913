// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest
internal import ConnectorServices

extension Plan {
    /// Compares the configuration that runs with another one.
    ///
    /// - Parameters:
    ///   - running: The configuration that runs, with the leaves as they run.
    ///   - next: The configuration that would run.
    ///   - fingerprint: Makes a text that differs from secret to secret, and reveals nothing else about it.
    package init(from running: PlanSide, to next: PlanSide, fingerprint: @escaping (String) -> String) {
        self.init(running: running.digest, target: next.digest)
        let (old, new) = (running.resolved.configuration, next.resolved.configuration)
        let before = running.resolved.runningConnectors
        let after = new.enabledConnectors
        let known = Dictionary(before.map { ($0.path, $0) }) { first, _ in first }
        let moves = new.moves(from: known, to: Set(after.map(\.path)))
        let fields = FieldComparison(running, next, fingerprint)
        var left = Set(before.map(\.path))
        for connector in after {
            let was = moves[connector.path]
            guard let earlier = known[was ?? connector.path], earlier.isLike(connector) else {
                changes.append(addition(of: connector, in: next))
                continue
            }
            left.remove(earlier.path)
            let (own, instance) = fields.differences(earlier, connector)
            guard was != nil || !own.isEmpty || !instance.isEmpty else {
                kept.append(connector.path)
                continue
            }
            var change = Change(
                path: connector.path,
                kind: was == nil ? .changed : .moved,
                isLeaf: connector.isOwnLeaf
            )
            (change.was, change.fields) = (was, own + instance)
            if connector.isOwnLeaf, was != nil || !instance.isEmpty {
                change.cost = Self.isExclusive(earlier, connector, running, next) ? .stopsFirst : .opensBeside
                change.wants = Wants(next.leaf(connector.path), beyond: running.leaf(earlier.path))
                change.image = next.images[connector.path].flatMap(Image.init)
            }
            change.events = Events(running.queued[earlier.path], was == nil ? .stay : .move)
            changes.append(change)
        }
        for connector in before where left.contains(connector.path) {
            // A further place of another leaf takes no events.
            let isReplaced = after.contains { $0.path == connector.path && !$0.isPlace }
            var change = Change(path: connector.path, kind: .removed, isLeaf: connector.isOwnLeaf)
            change.cost = connector.isOwnLeaf ? .closes : .nothing
            change.events = Events(running.queued[connector.path], isReplaced ? .stay : .die)
            changes.append(change)
        }
        settings = Self.settings(old, new) + Self.order(old, new)
        restarts = Self.restarts(old, new)
    }

    private func addition(of connector: Connector, in next: PlanSide) -> Change {
        var change = Change(path: connector.path, kind: .added, isLeaf: connector.isOwnLeaf)
        guard connector.isOwnLeaf else { return change }
        change.cost = .opens
        change.wants = Wants(next.leaf(connector.path), beyond: nil)
        change.image = next.images[connector.path].flatMap(Image.init)
        return change
    }

    private static func isExclusive(_ old: Connector, _ new: Connector, _ running: PlanSide, _ next: PlanSide) -> Bool {
        let (old, new) = (running.leaf(old.path)?.manifest, next.leaf(new.path)?.manifest)
        // Another plugin does not hold what this one holds.
        return old?.id == new?.id && (old?.isExclusive ?? false || new?.isExclusive ?? false)
    }

    /// The settings of the file as a whole that differ and can be changed while a host runs.
    private static func settings(_ old: Configuration, _ new: Configuration) -> [Field] {
        locks(old.lock, new.lock)
            + [
                (
                    "plugins", old.pluginDirectories.joined(separator: ", "),
                    new.pluginDirectories.joined(separator: ", ")
                ),
                ("trust", old.requiresTrust ? "strict" : "warn", new.requiresTrust ? "strict" : "warn"),
                ("reload", old.reloadMode.rawValue, new.reloadMode.rawValue),
            ].compactMap { name, from, to in from == to ? nil : Field(name: name, from: from, to: to) }
    }

    /// The order of the roots that both configurations have, if it differs.
    private static func order(_ old: Configuration, _ new: Configuration) -> [Field] {
        let before = old.connectors.filter(\.isEnabled).map(\.name)
        let after = new.connectors.filter(\.isEnabled).map(\.name)
        if before == after { return [] }
        let (known, present) = (Set(before), Set(after))
        let (from, to) = (before.filter(present.contains), after.filter(known.contains))
        return from == to
            ? [] : [Field(name: "order", from: from.joined(separator: ", "), to: to.joined(separator: ", "))]
    }

    /// The differences between the locks beside two files: whether there is one, and its entries of each plugin for
    /// this platform.
    private static func locks(_ old: PluginLock?, _ new: PluginLock?) -> [Field] {
        guard old != new else { return [] }
        guard let old, let new else {
            return [Field(name: "lock", from: old.map(\.summary), to: new.map(\.summary))]
        }
        let (before, after) = (old.images, new.images)
        return Set(before.keys).union(after.keys).sorted().compactMap { id in
            before[id] == after[id] ? nil : Field(name: "lock.\(id)", from: before[id], to: after[id])
        }
    }

    private static func restarts(_ old: Configuration, _ new: Configuration) -> [String] {
        var names: [String] = []
        if old.name != new.name { names.append("name") }
        if old.statePath != new.statePath { names.append("state") }
        if old.servers?.settings != new.servers?.settings { names.append("outbox") }
        return names
    }
}

/// Compares the settings of connectors of two configurations.
private struct FieldComparison {
    let running: PlanSide
    let next: PlanSide
    let fingerprint: (String) -> String

    init(_ running: PlanSide, _ next: PlanSide, _ fingerprint: @escaping (String) -> String) {
        (self.running, self.next, self.fingerprint) = (running, next, fingerprint)
    }

    /// The settings that differ: those of the gate, and those that need another instance.
    func differences(_ old: Connector, _ new: Connector) -> (gate: [Plan.Field], instance: [Plan.Field]) {
        if isSame(old, new) { return ([], []) }
        let gate = Self.differences(old.gateFields, new.gateFields, from: \.self, to: \.self)
        guard new.isOwnLeaf else { return (gate, []) }
        let instance = Self.differences(
            fields(old, running),
            fields(new, next),
            from: { $0.text(shown: running.resolved.shown, fingerprint: fingerprint) },
            to: { $0.text(shown: next.resolved.shown, fingerprint: fingerprint) }
        )
        return (gate, instance)
    }

    /// Whether two leaves have the same settings: nearly all leaves of a file do, and their texts need not be made.
    private func isSame(_ old: Connector, _ new: Connector) -> Bool {
        guard old.isWritten(like: new), let earlier = running.leaf(old.path), let leaf = next.leaf(new.path) else {
            return false
        }
        return earlier.givesInstances(like: leaf)
            && (running.images[old.path]?.mark ?? "") == (next.images[new.path]?.mark ?? "")
    }

    private func fields(_ connector: Connector, _ side: PlanSide) -> [(name: String, value: InstanceFields.Value)] {
        InstanceFields(connector, side.resolved.leaves[connector.path], side.images[connector.path]).fields
    }

    private static func differences<Value: Equatable>(
        _ old: [(name: String, value: Value)],
        _ new: [(name: String, value: Value)],
        from oldText: (Value) -> String,
        to newText: (Value) -> String
    ) -> [Plan.Field] {
        if old.elementsEqual(new, by: ==) { return [] }
        let before = Dictionary(grouping: old, by: \.name).mapValues { $0.map(\.value) }
        let after = Dictionary(grouping: new, by: \.name).mapValues { $0.map(\.value) }
        var names = new.map(\.name)
        for (name, _) in old where after[name] == nil { names.append(name) }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted && before[$0] != after[$0] }.map { name in
            var field = Plan.Field(
                name: name,
                from: before[name]?.map(oldText).joined(separator: "; "),
                to: after[name]?.map(newText).joined(separator: "; ")
            )
            // They differ in what is not shown: the user of a URL, or the end of a long text.
            if field.from == field.to { field.to = field.to.map { "\($0) (another value, which is not shown)" } }
            return field
        }
    }
}

extension Configuration {
    /// The connectors that are part of the tree, parents first.
    package var enabledConnectors: [Connector] { connectors.enabledSelvesAndDescendants }

    /// The old paths of connectors that have moved, by their new ones: as `was` says, there or at a composite above.
    ///
    /// - Parameters:
    ///   - known: The connectors that run.
    ///   - present: The paths of the new configuration, from which nothing has moved away.
    package func moves(from known: [String: Connector], to present: Set<String>) -> [String: String] {
        let claimed = Set(enabledConnectors.compactMap(\.was))
        var moves: [String: String] = [:]
        func add(_ siblings: [Connector], below old: String?) {
            for connector in siblings where connector.isEnabled {
                // A child moves with its composite, also if its own `was` was left there after an earlier move.
                let place = old.map { "\($0)/\(connector.name)" }
                // The same `was` at the same path was left in the file after an earlier move.
                let said = known[connector.path]?.was == connector.was ? nil : connector.was
                let candidates = [said, claimed.contains(place ?? "") ? nil : place]
                let was = candidates.compactMap(\.self).first { was in
                    known[was]?.isLike(connector) ?? false && !present.contains(was)
                }
                if let was { moves[connector.path] = was }
                add(connector.children, below: was ?? said ?? place)
            }
        }
        add(connectors, below: nil)
        return moves
    }

    /// Why a reload cannot move a connector as its `was` says: the events that wait for one connector must not reach the vendor of another.
    ///
    /// A `was` that the running configuration has at the same path was left in the file after an earlier move.
    ///
    /// - Parameter running: The configuration that runs.
    package func moveConflict(with running: Configuration) -> ConnectorError? {
        let known = Dictionary(running.enabledConnectors.map { ($0.path, $0) }) { first, _ in first }
        let present = Set(enabledConnectors.map(\.path))
        for connector in enabledConnectors {
            guard let was = connector.was, was != connector.path, known[was] != nil, known[connector.path]?.was != was
            else { continue }
            if present.contains(was) {
                return ConnectorError(
                    .unsupported,
                    "it cannot move from \"\(was)\" in the reload in which another connector takes that path",
                    fix: "move it first, and reload with the other connector after that",
                    connector: connector.path
                )
            }
            if known[connector.path] != nil {
                return ConnectorError(
                    .unsupported,
                    "\"\(was)\" cannot move here in the reload that takes the path from the connector that has it",
                    fix: "move or remove that connector first, and reload with this move after that",
                    connector: connector.path
                )
            }
        }
        return nil
    }
}

extension Connector {
    /// Whether this is a leaf at its own place.
    package var isOwnLeaf: Bool {
        if case .leaf = kind { true } else { false }
    }

    /// Whether this is a further place of a leaf.
    fileprivate var isPlace: Bool {
        if case .same = kind { true } else { false }
    }

    /// Whether both are leaves, composites, or further places of leaves.
    package func isLike(_ other: Connector) -> Bool {
        switch (kind, other.kind) {
        case (.leaf, .leaf), (.composite, .composite), (.same, .same): true
        default: false
        }
    }
}

extension PlanSide {
    fileprivate func leaf(_ path: String) -> ResolvedLeaf? { try? resolved.leaves[path]?.get() }
}

extension Plan.Events {
    /// Describes waiting events; nil if there are none.
    fileprivate init?(_ queued: Int?, _ outcome: Outcome) {
        guard let queued, queued > 0 else { return nil }
        self.init(queued: queued, outcome: outcome)
    }
}

extension Plan.Wants {
    /// What a leaf wants that another one did not.
    fileprivate init(_ leaf: ResolvedLeaf?, beyond other: ResolvedLeaf?) {
        guard let leaf else { return }
        let (manifest, earlier) = (leaf.manifest, other?.manifest)
        let known = Set(other?.egress ?? [])
        hosts = leaf.egress.filter { !known.contains($0) }.map(\.description)
        let services = Set((earlier?.requiredServices ?? []) + (earlier?.optionalServices ?? []))
        self.services = (manifest.requiredServices + manifest.optionalServices).filter { !services.contains($0) }
        let capabilities = Set((earlier?.capabilities ?? []).map(\.id.description))
        self.capabilities = manifest.capabilities.map(\.id.description).filter { !capabilities.contains($0) }
    }
}

extension Plan.Image {
    /// The image that a change loads; nil if it is loaded already.
    fileprivate init?(_ image: PlannedImage) {
        guard !image.isLoaded else { return nil }
        self.init(
            path: image.path,
            size: image.size,
            staticTLS: image.staticTLS,
            staticTLSLeft: image.staticTLS > 0 ? image.staticTLSLeft.map { $0 - image.staticTLS } : nil
        )
    }
}

extension PluginLock {
    /// How many plugins it has for this platform.
    fileprivate var summary: String {
        let count = images.count
        return count == 1 ? "1 plugin" : "\(count) plugins"
    }

    /// The versions and digests of each plugin on this platform, as shown.
    fileprivate var images: [String: String] {
        entries.filter { $0.platform == LockedPlugin.hostPlatform }.reduce(into: [:]) { images, entry in
            let image = "\(entry.version) \(entry.sha256.prefix(16))"
            images[entry.id] = images[entry.id].map { "\($0), \(image)" } ?? image
        }
    }
}
