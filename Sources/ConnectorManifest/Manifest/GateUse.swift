// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A gate that a plugin uses: a name that the plugin chooses, and the capability that the connector bound to it must offer.
public struct GateUse: Sendable, Hashable {
    /// The name by which the plugin calls the gate, and by which the file binds it in `with`: see ``isIdentifier(_:)``.
    public var name: String
    /// The capability whose operations the plugin may call.
    public var capability: CapabilityID
    /// Whether the plugin also works without the gate.
    public var isOptional = false

    /// Creates a use.
    package init(name: String, capability: CapabilityID, isOptional: Bool = false) {
        self.name = name
        self.capability = capability
        self.isOptional = isOptional
    }
}

extension GateUse: CustomStringConvertible {
    /// The capability and the name, such as `settings/1 as settings`; an optional use with `(optional)`.
    public var description: String { "\(capability) as \(name)\(isOptional ? " (optional)" : "")" }
}

extension GateUse {
    /// The value of its name in `uses`.
    var json: JSONValue {
        let text = JSONValue.string(capability.description)
        return isOptional ? ["capability": text, "optional": true] : text
    }
}

/// Reads the gates that a plugin uses.
extension JSONReader {
    /// Reads `uses`, an object of capabilities by name.
    ///
    /// - Parameter isForeign: Whether the library is foreign, and so cannot call anything.
    mutating func uses(in object: JSONObject, at path: JSONPath, isForeign: Bool) -> [GateUse] {
        let here = path.appending("uses")
        guard let members = self.object("uses", in: object, at: path)?.withoutAnnotations.members else { return [] }
        guard !isForeign else {
            report(
                .invalidValue,
                "a library without an \"entry\" cannot use gates",
                fix: "remove \"uses\"",
                at: here,
                .name
            )
            return []
        }
        return members.compactMap { member in
            let path = here.appending(member.name)
            guard isIdentifier(member.name) else {
                report(.invalidValue, "the name \"\(member.name.excerpt)\" must be \(identifierRule)", at: path, .name)
                return nil
            }
            return use(named: member.name, member.value, at: path)
        }
    }

    private static let useKeys = ["capability", "optional"]

    /// Reads one use: a capability, or an object with `capability` and, if needed, `optional`.
    private mutating func use(named name: String, _ value: JSONValue, at path: JSONPath) -> GateUse? {
        var (text, isOptional, place) = (value.string, false, path)
        if case .object = value {
            guard let object = members(of: value, at: path, allowed: Self.useKeys) else { return nil }
            place = path.appending("capability")
            guard let capability = string("capability", in: object, at: path, required: true) else { return nil }
            text = capability
            isOptional = bool("optional", in: object, at: path) ?? false
        }
        guard let text else {
            report(
                .wrongType,
                "\(path) must be a capability such as \"settings/1\", or an object that names one, not \(value.kind)",
                at: path
            )
            return nil
        }
        guard let capability = CapabilityID(text) else {
            report(.invalidValue, "the capability \"\(text.excerpt)\" must be like settings/1", at: place)
            return nil
        }
        return GateUse(name: name, capability: capability, isOptional: isOptional)
    }
}
