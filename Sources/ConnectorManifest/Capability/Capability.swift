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
    /// Whether the outbox delivers the operation's events: see the article `Outbox` of `ConnectorHost`.
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
    /// Finds an operation by its name; by `capability/operation` where two capabilities share a name, and by
    /// `capability/version/operation` where two versions of a capability do.
    ///
    /// - Returns: The first operation with the name.
    package func operation(named name: String) -> (capability: Capability, operation: Operation)? {
        // The outbox asks for each event, so no string is made.
        let qualified = name[...].partsAtSlash
        let versioned = qualified?.rest.partsAtSlash
        for capability in self {
            for operation in capability.operations {
                if operation.name == name { return (capability, operation) }
                guard let qualified, capability.id.name == qualified.first else { continue }
                if operation.name == qualified.rest { return (capability, operation) }
                guard let versioned, operation.name == versioned.rest else { continue }
                if versioned.first == "\(capability.id.version)" { return (capability, operation) }
            }
        }
        return nil
    }

    /// The name that means one operation and no other: `capability/operation`; or `capability/version/operation` if a capability before
    /// it is another version with an operation of this name.
    package func label(of operation: String, in capability: CapabilityID) -> String {
        let isTaken = prefix { $0.id != capability }.contains { other in
            other.id.name == capability.name && other.operations.contains { $0.name == operation }
        }
        return isTaken ? "\(capability)/\(operation)" : "\(capability.name)/\(operation)"
    }

    /// An unambiguous name for each operation: its own, or its label if a different one before it has the same name.
    package var names: [String] {
        // Several connectors below a composite may offer the same operation.
        var (seen, taken): (Set<String>, Set<String>) = ([], [])
        return flatMap { capability in
            capability.operations.filter { seen.insert("\(capability.id) \($0.name)").inserted }.map { operation in
                let isFirst = taken.insert(operation.name).inserted
                return isFirst ? operation.name : label(of: operation.name, in: capability.id)
            }
        }
    }
}

extension Substring {
    /// The text before the first slash, and the text after it; nil without a slash.
    fileprivate var partsAtSlash: (first: Substring, rest: Substring)? {
        guard let slash = utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return (self[..<slash], self[utf8.index(after: slash)...])
    }
}

/// The rule of ``isIdentifier(_:)``, for messages.
package let identifierRule =
    "1 to 64 lower-case letters, digits, '-', '_' and '.', of which the first is a letter or digit"

/// The rule of ``isOperationName(_:)``, for messages.
let operationNameRule = "1 to 255 bytes without '/', white space and invisible characters"

/// Whether a string may name an operation of a capability that the plugin defines: what a call can name, and what a person sees as it is.
///
/// A `/` separates the operation from its capability.
func isOperationName(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
        && text.unicodeScalars.allSatisfy { scalar in
            let properties = scalar.properties
            let category = properties.generalCategory
            return scalar != "/" && !properties.isWhitespace && category != .control && category != .format
        }
}

/// Whether a string may name a plugin, a capability or a connector: lower-case letters, digits, `-`, `_` and `.`,
/// starting with a letter or digit, at most 64 bytes.
package func isIdentifier(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 64 else { return false }
    return first.isLetterOrDigit
        && text.utf8.allSatisfy { $0.isLowercaseLetter || $0.isDigit || "-_.".utf8.contains($0) }
}
