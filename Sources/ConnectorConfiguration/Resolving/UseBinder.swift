// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest

/// Binds the gates that plugins use to connectors: those that `with` names, or the only one that offers the capability.
///
/// A leaf whose uses cannot be bound fails; the others are unaffected. An optional use that nothing offers, that is bound to a
/// disabled connector, or for which `with` has null, stays unbound, and so does every one that the host would bind within a cycle.
struct UseBinder {
    private let configuration: Configuration
    /// Finds positions.
    private var json: JSONReader
    /// The enabled connectors by path.
    private var enabled: [String: Connector] = [:]
    /// The enabled leaves in the order of the file.
    private let leaves: [Connector]
    /// The capabilities that each enabled leaf offers; none for a leaf whose plugin cannot be used.
    private var offers: [String: Set<CapabilityID>] = [:]
    /// The enabled leaves that offer each capability, in the order of the file.
    private var providers: [CapabilityID: [String]] = [:]
    /// The enabled leaves whose capabilities are unknown.
    private var unknown: [String] = []
    /// What composites offer, computed on demand.
    private var offersOfComposites: [String: Offer] = [:]
    /// What waits for what by `after` and `with`, made on demand.
    private var graph: DependencyGraph?

    /// What the enabled leaves at and below a connector offer.
    private struct Offer {
        var capabilities: Set<CapabilityID> = []
        /// Whether there is any enabled leaf.
        var isEnabled = false
        /// Whether all capabilities are known.
        var isKnown = true
    }

    /// Creates a binder for all enabled leaves as resolved.
    init(_ configuration: Configuration, _ resolved: [String: Result<ResolvedLeaf, ConnectorError>]) {
        self.configuration = configuration
        json = JSONReader(configuration.texts)
        leaves = configuration.enabledLeaves.map(\.connector)
        for leaf in leaves {
            guard let manifest = try? resolved[leaf.path]?.get().manifest else {
                unknown.append(leaf.path)
                continue
            }
            offers[leaf.path] = Set(manifest.capabilities.map(\.id))
            for capability in manifest.capabilities { providers[capability.id, default: []].append(leaf.path) }
        }
        addEnabled(configuration.connectors)
    }

    private mutating func addEnabled(_ connectors: [Connector]) {
        for connector in connectors where connector.isEnabled {
            enabled[connector.path] = connector
            addEnabled(connector.children)
        }
    }

    /// Adds to each resolved leaf the connectors that its plugin uses, or replaces it with the reason why there are none.
    mutating func bind(_ resolved: inout [String: Result<ResolvedLeaf, ConnectorError>]) {
        for leaf in leaves {
            guard var resolvedLeaf = try? resolved[leaf.path]?.get() else { continue }
            guard !resolvedLeaf.manifest.uses.isEmpty || leaf.hasBindings else { continue }
            do throws(ConnectorError) {
                resolvedLeaf.members.value.uses = try uses(of: leaf, resolvedLeaf.manifest)
                resolved[leaf.path] = .success(resolvedLeaf)
            } catch {
                resolved[leaf.path] = .failure(error)
            }
        }
        breakCycles(&resolved)
    }

    // MARK: One leaf

    private mutating func uses(of leaf: Connector, _ manifest: Manifest) throws(ConnectorError) -> [BoundUse] {
        let names = manifest.uses.map(\.name)
        if let stranger = leaf.unbound.union(leaf.with.keys).filter({ !names.contains($0) }).min() {
            throw fault(
                .unknownKey,
                "the plugin \(manifest.id) uses no gate \"\(stranger.excerpt)\"",
                fix: names.isEmpty ? "remove it" : suggestion(for: stranger, among: names),
                of: leaf,
                at: leaf.location.appending("with").appending(stranger),
                .name
            )
        }
        var uses: [BoundUse] = []
        for use in manifest.uses {
            if let target = leaf.with[use.name] {
                if use.isOptional, !offer(of: target).isEnabled { continue }
                try check(target, offers: use, of: leaf)
                uses.append(BoundUse(use, to: target))
            } else if leaf.unbound.contains(use.name) {
                guard use.isOptional else { throw needed(use, of: leaf, manifest) }
            } else if !use.isOptional || !candidates(for: use, of: leaf).isEmpty {
                uses.append(BoundUse(use, to: try candidate(for: use, of: leaf, manifest), isAutomatic: true))
            }
        }
        return uses
    }

    /// Throws unless a connector that `with` names is enabled and offers a capability, as far as that is known.
    private mutating func check(_ target: String, offers use: GateUse, of leaf: Connector) throws(ConnectorError) {
        let location = leaf.location.appending("with").appending(use.name)
        let offer = offer(of: target)
        guard offer.isEnabled else {
            throw fault(
                .invalidValue,
                "\"\(use.name)\" is bound to \"\(target)\", which is disabled",
                fix:
                    "enable it, or name a connector that offers \(use.capability): \(list(candidates(for: use, of: leaf)))",
                of: leaf,
                at: location
            )
        }
        guard offer.isKnown, !offer.capabilities.contains(use.capability) else { return }
        let names = offer.capabilities.map(\.description).sorted()
        throw fault(
            .unsupported,
            "\"\(use.name)\" needs \(use.capability), but \"\(target)\" offers \(names.isEmpty ? "nothing" : list(names))",
            fix: "connectors that offer it: \(list(candidates(for: use, of: leaf)))",
            of: leaf,
            at: location
        )
    }

    /// The error for a use that `with` leaves unbound although the plugin needs it.
    private mutating func needed(_ use: GateUse, of leaf: Connector, _ manifest: Manifest) -> ConnectorError {
        fault(
            .invalidValue,
            "\"\(use.name)\" is null, but the plugin \(manifest.id) needs \(use.capability)",
            fix: "name a connector that offers it: \(list(candidates(for: use, of: leaf)))",
            of: leaf,
            at: leaf.location.appending("with").appending(use.name)
        )
    }

    /// The only leaf that offers the capability of a use, and that does not wait for the leaf that uses it.
    private mutating func candidate(
        for use: GateUse,
        of leaf: Connector,
        _ manifest: Manifest
    ) throws(ConnectorError) -> String {
        let offering = offering(use.capability, besides: leaf)
        let candidates = candidates(for: use, of: leaf)
        // If the only one is part of a cycle, the error shows the cycle.
        if let only = candidates.first ?? offering.first, candidates.count == 1 || offering.count == 1 { return only }
        let unknown = unknown.filter { $0 != leaf.path }
        let message: String
        let fix: String
        if offering.isEmpty {
            message =
                "no other connector offers it"
                + (unknown.isEmpty ? "" : ", as far as known: the plugin of \(list(unknown)) cannot be used")
            fix = "add a connector whose plugin offers \(use.capability)"
        } else if let first = candidates.first {
            message = "\(candidates.count) connectors offer it: \(list(candidates))"
            fix =
                "write \"with\": {\"\(use.name)\": \"\(first)\"}"
                + (use.isOptional ? ", or null instead of the name to leave it unbound" : "")
        } else {
            message = "the \(offering.count) connectors that offer it wait for this one: \(list(offering))"
            fix = "add a connector whose plugin offers \(use.capability), and does not wait for this one"
        }
        throw fault(
            offering.isEmpty ? .missingValue : .invalidValue,
            "the plugin \(manifest.id) uses \(use.capability) as \"\(use.name)\", but \(message)",
            fix: fix,
            of: leaf,
            at: leaf.location.appending("plugin")
        )
    }

    private func offering(_ capability: CapabilityID, besides leaf: Connector) -> [String] {
        (providers[capability] ?? []).filter { $0 != leaf.path }
    }

    /// The leaves that offer the capability of a use, and that do not wait for the leaf that uses it.
    private mutating func candidates(for use: GateUse, of leaf: Connector) -> [String] {
        let offering = offering(use.capability, besides: leaf)
        guard !offering.isEmpty else { return [] }
        var graph = self.graph.take() ?? DependencyGraph(configuration.connectors)
        defer { self.graph = graph }
        return offering.filter { !graph.waits($0, for: leaf.path) }
    }

    private mutating func offer(of path: String) -> Offer {
        guard let connector = enabled[path] else { return Offer() }
        switch connector.kind {
        case .leaf:
            return Offer(capabilities: offers[path] ?? [], isEnabled: true, isKnown: offers[path] != nil)
        case .same(let target):
            // In a faulty file, it may name a composite that contains it.
            guard case .leaf? = enabled[target]?.kind else { return Offer() }
            return offer(of: target)
        case .composite(_, let children):
            if let known = offersOfComposites[path] { return known }
            var offer = Offer()
            for child in children {
                let below = self.offer(of: child.path)
                offer.capabilities.formUnion(below.capabilities)
                offer.isEnabled = offer.isEnabled || below.isEnabled
                offer.isKnown = offer.isKnown && below.isKnown
            }
            offersOfComposites[path] = offer
            return offer
        }
    }

    private func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.listed
    }

    private mutating func fault(
        _ code: ConnectorError.Code,
        _ message: String,
        fix: String?,
        of leaf: Connector,
        at location: JSONPath,
        _ part: JSONLocator.Part = .value
    ) -> ConnectorError {
        ConnectorError(code, message, fix: fix, connector: leaf.path, position: json.position(of: location, part))
    }

    // MARK: Cycles

    /// Undoes the optional automatic bindings in cycles, and fails the leaves whose others still close one. Cycles of `after` and `with`
    /// are errors in the file.
    private mutating func breakCycles(_ resolved: inout [String: Result<ResolvedLeaf, ConnectorError>]) {
        // Each round fails at least one leaf, or undoes a binding. A file that needs more rounds is not worth the time.
        for round in 0...Self.roundLimit {
            let automatic = leaves.filter { leaf in
                (try? resolved[leaf.path]?.get())?.uses.contains(where: \.isAutomatic) ?? false
            }
            guard !automatic.isEmpty else { return }
            var graph = DependencyGraph(configuration.connectors.map { $0.binding(resolved) })
            let cycles = graph.cycles()
            guard !cycles.isEmpty else { return }
            let isLast = round == Self.roundLimit
            let members = cycles.map { isLast ? automatic.map(\.path) : $0.waits.map(\.waiting) }
            // Without their optional bindings, there may be no cycles left; several may share one binding.
            var isUndone = false
            for (cycle, paths) in zip(cycles, members) {
                for path in paths { if undoOptional(path, in: cycle, &resolved) { isUndone = true } }
            }
            if isUndone, !isLast { continue }
            for (cycle, paths) in zip(cycles, members) {
                for path in paths { fail(path, in: cycle, &resolved) }
            }
        }
    }

    private static let roundLimit = 20

    /// Undoes the optional automatic bindings of a leaf that belong to a cycle; all of them if none of its waits does.
    ///
    /// - Returns: Whether there was any.
    private func undoOptional(
        _ path: String,
        in cycle: DependencyGraph.Cycle,
        _ resolved: inout [String: Result<ResolvedLeaf, ConnectorError>]
    ) -> Bool {
        guard var leaf = try? resolved[path]?.get() else { return false }
        let targets = Set(cycle.waits.filter { $0.waiting == path }.map(\.target))
        let count = leaf.uses.count
        leaf.members.value.uses.removeAll {
            $0.isAutomatic && $0.use.isOptional && (targets.isEmpty || targets.contains($0.connector))
        }
        guard leaf.uses.count < count else { return false }
        resolved[path] = .success(leaf)
        return true
    }

    /// Fails a leaf of a cycle if one of its automatic bindings belongs to it.
    private mutating func fail(
        _ path: String,
        in cycle: DependencyGraph.Cycle,
        _ resolved: inout [String: Result<ResolvedLeaf, ConnectorError>]
    ) {
        guard let leaf = enabled[path], let resolvedLeaf = try? resolved[path]?.get() else { return }
        let targets = Set(cycle.waits.filter { $0.waiting == path }.map(\.target))
        let bound = resolvedLeaf.uses.first { $0.isAutomatic && (targets.isEmpty || targets.contains($0.connector)) }
        guard let bound else { return }
        resolved[path] = .failure(
            fault(
                .dependencyCycle,
                "connectors wait for each other: \(cycle.description)",
                fix: "bind \"\(bound.use.name)\" to another connector in \"with\"",
                of: leaf,
                at: leaf.location.appending("plugin")
            )
        )
    }
}

extension Connector {
    /// The connector with its plugin's bound uses in `with`, and the same for everything below it.
    fileprivate func binding(_ resolved: [String: Result<ResolvedLeaf, ConnectorError>]) -> Connector {
        changing { members in
            switch kind {
            case .leaf:
                let uses = (try? resolved[path]?.get())?.uses ?? []
                members.with = Dictionary(uses.map { ($0.use.name, $0.connector) }) { first, _ in first }
            case .composite(let policy, let children):
                members.kind = .composite(policy: policy, children: children.map { $0.binding(resolved) })
            case .same: break
            }
        }
    }
}
