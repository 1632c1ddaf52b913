// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A plugin's description of itself, readable without running its code.
///
/// The JSON keys are the property names below, except `services` (with `required` and `optional`), `batch` (with
/// `count` and `bytes`) and `exclusive`. `manifest` is the version of the format, 1.
public struct Manifest: Sendable, Hashable {
    /// The id by which connectors name the plugin: see ``isIdentifier(_:)``.
    public var id: String
    /// The plugin's version; the host loads the highest version of a plugin.
    public var version: SemanticVersion
    /// The versions of the ABI that the plugin works with.
    public var abi: ClosedRange<UInt32>
    /// The exported function that returns the table of `connector/plugin.h`; nil only for a foreign library.
    public var entry: String?
    /// A one-sentence description for readers.
    public var documentation: String
    /// The language of the plugin's source: `c`, `rust`, `swift`, …
    public var language: String?
    /// Whether operations may run concurrently.
    public var thread: ThreadClass
    /// The capabilities that the plugin offers.
    public var capabilities: [Capability]
    /// The fields that the plugin takes from `config`.
    public var configuration: [ConfigurationField]
    /// The host services that the plugin requires.
    public var requiredServices: [String]
    /// The host services that the plugin uses if the host has them.
    public var optionalServices: [String]
    /// The gates that the plugin uses, through the host service `gates/1`.
    public var uses: [GateUse] = []
    /// The console scenes that show the plugin's answers and events.
    public var scenes: [ManifestScene] = []
    /// The network hosts that the plugin connects to: names, or `{field}` for the host of a configuration field's URL.
    public var egress: [String]
    /// The most events that one `deliver` takes; nil for the host's limit.
    public var batchCount: Int?
    /// The most bytes of events that one `deliver` takes; nil for the host's limit.
    public var batchBytes: Int?
    /// The existing library that a sidecar describes: a path, or a name that the dynamic linker resolves.
    public var library: String?
    /// The operations of that library that open and close a gate.
    public var lifecycle: ForeignLifecycle?
    /// The Swift type that implements the plugin, for generated code only.
    public var swiftType: String?
    /// Whether two instances with one configuration cannot be open at the same time, because each holds what the other needs.
    ///
    /// A reload then closes the instance before it opens its successor, instead of opening the successor beside it.
    public var isExclusive = false

    /// Which functions may run concurrently.
    public enum ThreadClass: String, Sendable, Hashable, CaseIterable {
        /// All functions may run concurrently, on any thread.
        case any
        /// One operation of an instance at a time.
        case serial
    }

    /// The version of the format.
    public static let formatVersion: Int64 = 1

    /// The services that hosts of this version lend, besides `gates/1`, which plugins with `uses` get.
    package static let hostServices = ["log/1", "http/1", "clock/1", "events/1", "storage/1"]

    /// The most undeclared services that are reported per gate; requests for further ones go unreported.
    package static let deniedServicesLimit = 16

    /// Whether an entry of ``egress`` names a host, optionally with `*.` before it and a port after it.
    static func isEgressHost(_ text: String) -> Bool {
        let rest = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        // A host with a port has the form of a URL's authority.
        guard text.utf8.count <= 300, let parts = URLParts("http://\(rest)") else { return false }
        return parts.rest.isEmpty && parts.user == nil && !rest.hasSuffix(":")
    }

    /// The greatest size of a manifest, in bytes.
    public static let sizeLimit = 1 << 20
}

extension Manifest {
    /// The operation with a name, and its capability; nil if the plugin has no such operation.
    ///
    /// - Parameter name: The operation's name, or `capability/operation` where two capabilities share one; with the version,
    ///   `capability/version/operation`, where two versions of a capability do.
    public func operation(named name: String) -> (capability: Capability, operation: Operation)? {
        capabilities.operation(named: name)
    }
}

extension Manifest {
    /// Whether nothing here leads to a server: the plugin works on this machine alone, as far as it says. Of a foreign library, which
    /// says nothing of it, that is not known.
    package var isLocal: Bool {
        library == nil && egress.isEmpty && uses.isEmpty
            && !(requiredServices + optionalServices).contains { $0.starts(ascii: "http/") }
            && !configuration.contains { $0.type == .url || $0.isSecret }
    }

    /// The capabilities as callers see them: without the operations of a foreign library that only the host calls, and without
    /// ``boundNames`` in the signatures of all others.
    package var callable: [Capability] {
        guard let lifecycle else { return capabilities }
        let names = boundNames
        return capabilities.map { capability in
            var capability = capability
            capability.operations.removeAll { $0.name == lifecycle.open || $0.name == lifecycle.close }
            for index in capability.operations.indices {
                let signature = capability.operations[index].signature
                capability.operations[index].signature = signature.without(inputs: names)
            }
            return capability
        }
    }

    /// The inputs that the host fills in with the results of a foreign library's `open`.
    package var boundNames: Set<String> {
        guard let name = lifecycle?.open, let operation = operation(named: name)?.operation else { return [] }
        return Set(operation.outputs.map { $0.name })
    }

    /// The error for a call of an operation that the plugin does not have.
    package func unknownOperation(_ name: String) -> ConnectorError {
        let known = callable.names
        let defined = capabilities.compactMap { CapabilityDefinition.standard($0.id) }
        let isDefined = defined.contains { $0.operations.contains { $0.name == name } }
        return ConnectorError(
            isDefined ? .unsupported : .invalid,
            isDefined
                ? "the plugin \(id) does not offer \(name)" : "the plugin \(id) has no operation \"\(name.excerpt)\"",
            fix: suggestion(for: name, among: known)
        )
    }
}
