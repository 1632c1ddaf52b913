// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The differences between two images of a plugin, and whether the second can replace the first.
package struct PluginComparison: Sendable, Hashable {
    /// The differences: first those that break something, then what the second image newly wants, then the rest.
    package private(set) var changes: [PluginChange] = []

    /// Whether everything that worked with the first image works with the second.
    package var isCompatible: Bool { !changes.contains { $0.effect == .breaks } }

    /// Compares what a lock records about two images.
    package init(_ old: LockedPlugin, _ new: LockedPlugin) {
        compareIdentity(old, new)
        compareCapabilities(old.capabilities, new.capabilities)
        let (before, after) = (old.services.union(old.optionalServices), new.services.union(new.optionalServices))
        compare(.service, before, after, requiring: .wants)
        compare(.host, old.hosts, new.hosts, requiring: .wants)
        compareUses(old.uses, new.uses)
        let libraries = old.dependencies.reduce(into: [:]) { $0[$1.name] = $1.sha256 }
        let newLibraries = new.dependencies.reduce(into: [:]) { $0[$1.name] = $1.sha256 }
        for name in Set(libraries.keys).union(newLibraries.keys) where libraries[name] != newLibraries[name] {
            changes.append(PluginChange(.none, .library, name, from: libraries[name], to: newLibraries[name]))
        }
        sort()
    }

    /// Compares two images by their whole manifests.
    package init(_ old: LockedPlugin, _ oldManifest: Manifest, _ new: LockedPlugin, _ newManifest: Manifest) {
        self.init(old, new)
        if oldManifest.thread != newManifest.thread {
            let (from, to) = (oldManifest.thread.rawValue, newManifest.thread.rawValue)
            changes.append(PluginChange(.none, .thread, "thread", from: from, to: to))
        }
        compareFields(oldManifest.configuration, newManifest.configuration)
        compareDelivery(oldManifest, newManifest)
        sort()
    }

    /// Orders the changes by effect, subject and name.
    private mutating func sort() {
        let subjects = PluginChange.Subject.allCases
        func rank(_ change: PluginChange) -> (Int, Int, String) {
            (
                PluginChange.Effect.allCases.firstIndex(of: change.effect) ?? 0,
                subjects.firstIndex(of: change.subject) ?? 0, change.name
            )
        }
        changes.sort { rank($0) < rank($1) }
    }

    private mutating func compareIdentity(_ old: LockedPlugin, _ new: LockedPlugin) {
        func add(_ effect: PluginChange.Effect, _ subject: PluginChange.Subject, _ from: String, _ to: String) {
            guard from != to else { return }
            changes.append(PluginChange(effect, subject, subject.rawValue, from: from, to: to))
        }
        add(.breaks, .id, old.id, new.id)
        add(.none, .version, old.version.description, new.version.description)
        let abi = (Self.text(old.abi), Self.text(new.abi))
        // Its hosts may speak any version that the first image supports.
        let keepsABI = new.abi.lowerBound <= old.abi.lowerBound && new.abi.upperBound >= old.abi.upperBound
        add(keepsABI ? .none : .breaks, .abi, abi.0, abi.1)
        add(.none, .size, "\(old.size)", "\(new.size)")
        add(.none, .digest, old.sha256, new.sha256)
    }

    private static func text(_ abi: ClosedRange<UInt32>) -> String {
        abi.count == 1 ? "\(abi.lowerBound)" : "\(abi.lowerBound) to \(abi.upperBound)"
    }

    private mutating func compare(
        _ subject: PluginChange.Subject,
        _ old: Set<String>,
        _ new: Set<String>,
        requiring effect: PluginChange.Effect
    ) {
        for name in new.subtracting(old) { changes.append(PluginChange(effect, subject, name, to: name)) }
        for name in old.subtracting(new) { changes.append(PluginChange(.none, subject, name, from: name)) }
    }

    private mutating func compareUses(_ old: Set<GateUse>, _ new: Set<GateUse>) {
        for name in Set(old.union(new).map(\.name)) {
            let (before, after) = (old.first { $0.name == name }, new.first { $0.name == name })
            guard before != after else { continue }
            // A file that binds a use in "with" is invalid if the use is gone or has another capability; a file that does not is
            // invalid if the use is required.
            let keepsFiles =
                (before == nil || before?.capability == after?.capability)
                && (before?.isOptional == false || after?.isOptional == true)
            let effect: PluginChange.Effect = keepsFiles ? (before == nil ? .wants : .none) : .breaks
            changes.append(PluginChange(effect, .uses, name, from: before?.traits, to: after?.traits))
        }
    }

    private mutating func compareCapabilities(
        _ old: [String: [String: Signature]],
        _ new: [String: [String: Signature]]
    ) {
        for (capability, operations) in old {
            guard let others = new[capability] else {
                changes.append(PluginChange(.breaks, .capability, capability, from: capability))
                continue
            }
            for (name, signature) in operations where others[name] != signature {
                let (from, to) = (signature.description, others[name]?.description)
                changes.append(PluginChange(.breaks, .operation, "\(capability) \(name)", from: from, to: to))
            }
        }
        for (capability, operations) in new {
            guard let others = old[capability] else {
                changes.append(PluginChange(.wants, .capability, capability, to: capability))
                continue
            }
            for (name, signature) in operations where others[name] == nil {
                changes.append(PluginChange(.none, .operation, "\(capability) \(name)", to: signature.description))
            }
        }
    }

    /// Reports each operation that switches between delivery by the outbox and plain calls; both directions break
    /// callers.
    private mutating func compareDelivery(_ old: Manifest, _ new: Manifest) {
        for capability in old.capabilities {
            let others = new.capabilities.first { $0.id == capability.id }?.operations ?? []
            for operation in capability.operations {
                guard let other = others.first(where: { $0.name == operation.name }),
                    other.isDelivered != operation.isDelivered
                else { continue }
                let (from, to) = operation.isDelivered ? ("delivered", "called") : ("called", "delivered")
                changes.append(
                    PluginChange(.breaks, .operation, "\(capability.id) \(operation.name)", from: from, to: to)
                )
            }
        }
    }

    private mutating func compareFields(_ old: [ConfigurationField], _ new: [ConfigurationField]) {
        for field in old {
            guard let other = new.first(where: { $0.name == field.name }) else {
                changes.append(PluginChange(.breaks, .field, field.name, from: field.traits))
                continue
            }
            let effect: PluginChange.Effect = other.accepts(everythingOf: field) ? .none : .breaks
            guard field.traits != other.traits else { continue }
            changes.append(PluginChange(effect, .field, field.name, from: field.traits, to: other.traits))
        }
        for field in new where !old.contains(where: { $0.name == field.name }) {
            let effect: PluginChange.Effect = field.isRequired ? .breaks : .none
            changes.append(PluginChange(effect, .field, field.name, to: field.traits))
        }
    }
}

extension GateUse {
    /// The capability, and whether the use is optional.
    fileprivate var traits: String { isOptional ? "\(capability), optional" : capability.description }
}

extension ConfigurationField {
    /// The type and the restrictions of the field, in one line.
    fileprivate var traits: String {
        var traits = [type.rawValue]
        if isRequired { traits.append("required") }
        if isSecret { traits.append("secret") }
        if !allowedValues.isEmpty { traits.append("one of \(JSONValue.array(allowedValues).serialized())") }
        if let minimum { traits.append("at least \(JSONValue.number(minimum).serialized())") }
        if let maximum { traits.append("at most \(JSONValue.number(maximum).serialized())") }
        if let defaultValue { traits.append("default \(defaultValue.serialized())") }
        return traits.joined(separator: ", ")
    }

    /// Whether every file that is valid for the old field is valid for this one.
    fileprivate func accepts(everythingOf old: ConfigurationField) -> Bool {
        let widens =
            type == old.type || (type == .number && old.type == .integer) || type == .json
            || (type == .string && [.url, .duration].contains(old.type))
        let keepsValues =
            allowedValues.isEmpty
            || (!old.allowedValues.isEmpty && old.allowedValues.allSatisfy { allowedValues.contains($0) })
        let keepsMinimum = minimum.map { bound in old.minimum.map { $0 >= bound } ?? false } ?? true
        let keepsMaximum = maximum.map { bound in old.maximum.map { $0 <= bound } ?? false } ?? true
        // {"secret": …} is refused where the plugin would receive it in clear text.
        return widens && keepsValues && keepsMinimum && keepsMaximum && (!isRequired || old.isRequired)
            && (isSecret || !old.isSecret)
    }
}
