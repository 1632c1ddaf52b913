// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A capability as one plugin offers it.
public struct Capability: Sendable, Hashable {
    /// The name and version.
    public var id: CapabilityID
    /// The operations that the plugin implements; it omits those that its vendor cannot do.
    public var operations: [Operation]

    /// Creates a capability with the operations that a plugin implements.
    package init(id: CapabilityID, operations: [Operation]) {
        self.id = id
        self.operations = operations
    }
}

/// The name and version of a capability, such as `geocoder/1`.
public struct CapabilityID: Sendable, Hashable, CustomStringConvertible {
    /// Lower-case letters, digits, hyphens and dots.
    public var name: String
    /// Counted from 1. Within one version, operations are only ever added.
    public var version: UInt32

    /// Parses `name/version`; nil for anything else.
    public init?(_ text: String) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let (name, digits) = (String(text[..<slash]), text[text.utf8.index(after: slash)...])
        guard let version = UInt32(digits), version > 0, isIdentifier(name), digits == "\(version)" else { return nil }
        self.name = name
        self.version = version
    }

    /// The text `name/version`.
    public var description: String { "\(name)/\(version)" }
}

/// One function of a capability.
public struct Operation: Sendable, Hashable {
    /// The name that calls use.
    public var name: String
    /// The name of the exported function.
    public var symbol: String
    /// The types that the operation takes and returns.
    public var signature: Signature
    /// A one-sentence description for readers.
    public var documentation: String
    /// Whether the outbox delivers the operation's events: see <doc:Outbox>.
    public var isDelivered = false
    /// Whether the function returns without waiting, within microseconds, so that it runs on its caller's thread.
    public var isPrompt = false
    /// Whether a call has no effect, so that it may be repeated, or sent to a vendor that is on trial.
    public var isSafe = false
    /// How a foreign library's function reports success; nil for a plugin's function, which follows the ABI.
    public var foreign: ForeignConvention?

    /// Creates an operation.
    package init(
        name: String,
        symbol: String,
        signature: Signature,
        documentation: String,
        isDelivered: Bool = false,
        isPrompt: Bool = false,
        isSafe: Bool = false,
        foreign: ForeignConvention? = nil
    ) {
        self.name = name
        self.symbol = symbol
        self.signature = signature
        self.documentation = documentation
        self.isDelivered = isDelivered
        self.isPrompt = isPrompt
        self.isSafe = isSafe
        self.foreign = foreign
    }
}

extension Operation {
    /// Whether a call may be made again although the first one may have taken effect: it has none, or the vendor knows its event by id.
    package var isRepeatable: Bool { isSafe || isDelivered }
}

extension [Capability] {
    /// Finds an operation by its name; `capability/operation` where two capabilities share a name.
    ///
    /// - Returns: The first operation with the name.
    package func operation(named name: String) -> (capability: Capability, operation: Operation)? {
        // The outbox asks for each event, so no string is made.
        let slash = name.utf8.firstIndex(of: UInt8(ascii: "/"))
        let qualified = slash.map { (capability: name[..<$0], operation: name[name.utf8.index(after: $0)...]) }
        for capability in self {
            for operation in capability.operations {
                if operation.name == name { return (capability, operation) }
                guard let qualified, operation.name == qualified.operation else { continue }
                if capability.id.name == qualified.capability { return (capability, operation) }
            }
        }
        return nil
    }
}

/// The rule of ``isIdentifier(_:)``, for messages.
package let identifierRule =
    "1 to 64 lower-case letters, digits, '-', '_' and '.', of which the first is a letter or digit"

/// Whether a string may name a plugin, a capability or a connector: lower-case letters, digits, `-`, `_` and `.`,
/// starting with a letter or digit, at most 64 bytes.
package func isIdentifier(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 64 else { return false }
    return first.isLetterOrDigit
        && text.utf8.allSatisfy { $0.isLowercaseLetter || $0.isDigit || "-_.".utf8.contains($0) }
}
