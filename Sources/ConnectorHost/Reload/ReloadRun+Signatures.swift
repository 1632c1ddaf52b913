// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorManifest

/// Refusing a plugin whose operations no longer have the signatures that callers use.
extension ReloadRun {
    /// Refuses a plan that would break callers, before anything changes.
    ///
    /// Callers by name are exempt: the host checks each of their calls. From here until ``settleSignatures(_:)``, no
    /// typed handle can be made that the next plugin would break.
    ///
    /// - Throws: One `signature-mismatch` for each operation, with both signatures and the callers.
    func checkSignatures(_ plan: Plan, _ next: NextConfiguration) throws(Stop) {
        var errors: [ConnectorError] = []
        for change in plan.changes where change.isLeaf && change.kind == .changed {
            guard let gate = dependencies.current.tree[change.path]?.gate, let old = gate.manifest,
                let new = next.plans[change.path]?.manifest, old.capabilities != new.capabilities
            else { continue }
            let held = gate.typedHandles.expect([old, new])
            let users = UsersOfConnector(change.path, dependencies.running.resolved, next.resolved)
            for capability in old.capabilities {
                let others = new.capabilities.first { $0.id == capability.id }
                for operation in capability.operations {
                    var other = others?.operations.first { $0.name == operation.name }
                    let isSame = other?.signature == operation.signature
                    let broken = Self.broken(held, from: old, to: new, operation, capability)
                    let callers = Self.callers(
                        broken.count,
                        isSame ? [] : users.names(of: capability.id, isGone: others == nil)
                    )
                    guard !callers.isEmpty else { continue }
                    // Another capability's operation of the same name takes the place of the one that handles call.
                    if isSame, let held = broken.name { other = new.operation(named: held)?.operation }
                    let name = "\(capability.id) \(operation.name)\(operation.signature)"
                    errors.append(Self.breaks(change.path, new, name, other, operation, callers))
                }
            }
        }
        guard errors.isEmpty else {
            settleSignatures(plan)
            throw Stop(phase: .plan, errors: errors, plan: plan)
        }
    }

    /// Ends the period in which new typed handles must also fit the next plugins.
    func settleSignatures(_ plan: Plan) {
        let tree = dependencies.current.tree
        for change in plan.changes where change.isLeaf && change.kind == .changed {
            tree[change.path]?.gate?.typedHandles.settle()
        }
    }

    /// The typed handles that call an operation, and would call a function of another C type.
    ///
    /// - Parameter held: How many handles there are, by the names that they were made with.
    /// - Returns: How many they are, and the name that one of them was made with.
    private static func broken(
        _ held: [String: Int],
        from old: Manifest,
        to new: Manifest,
        _ operation: Operation,
        _ capability: Capability
    ) -> (count: Int, name: String?) {
        let qualifiers = ["", "\(capability.id.name)/", "\(capability.id)/"]
        let names = qualifiers.map { $0 + operation.name }.filter { name in
            held[name] != nil && old.operation(named: name)?.capability.id == capability.id
                && !new.offersTyped(name, operation.signature)
        }
        return (names.reduce(0) { $0 + (held[$1] ?? 0) }, names.first)
    }

    private static func callers(_ handleCount: Int, _ users: [String]) -> [String] {
        let handles =
            switch handleCount {
            case 0: [String]()
            case 1: ["a typed handle that the application holds"]
            default: ["\(handleCount) typed handles that the application holds"]
            }
        return handles + users
    }

    private static func breaks(
        _ path: String,
        _ manifest: Manifest,
        _ name: String,
        _ next: Operation?,
        _ operation: Operation,
        _ callers: [String]
    ) -> ConnectorError {
        let to = next.map { next in
            next.signature == operation.signature
                ? "is a function of a foreign library" : "has the signature \(next.signature)"
        }
        return ConnectorError(
            .signatureMismatch,
            "in \(manifest.id) \(manifest.version), \(name) \(to ?? "is gone"), which would break "
                + callers.joined(separator: ", "),
            fix: "use a version that keeps the signature, or change the callers and restart the application",
            connector: path
        )
    }
}

/// The connectors whose plugins use a connector.
private struct UsersOfConnector {
    private let path: String
    private let running: ResolvedConfiguration
    private let next: ResolvedConfiguration

    init(_ path: String, _ running: ResolvedConfiguration, _ next: ResolvedConfiguration) {
        (self.path, self.running, self.next) = (path, running, next)
    }

    /// The connectors that use one of its capabilities, and would still use it under the next configuration.
    ///
    /// - Parameter isGone: Whether the connector no longer offers the capability. Only users that can no longer be
    ///   bound then break.
    func names(of capability: CapabilityID, isGone: Bool) -> [String] {
        running.leaves.keys.sorted().compactMap { user in
            guard case .success(let leaf)? = running.leaves[user], let other = next.leaves[user] else { return nil }
            let uses = ((try? other.get()) ?? leaf).uses
            guard let bound = uses.first(where: { $0.use.capability == capability && covers($0.connector) }) else {
                return nil
            }
            if isGone, case .success = other { return nil }
            return "\(user), which uses \(bound.connector) as \"\(bound.use.name)\""
        }
    }

    /// Whether a connector is this one, or a composite above it.
    private func covers(_ connector: String) -> Bool {
        connector == path || path.hasPrefix(connector + "/")
    }
}
