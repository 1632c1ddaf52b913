// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A gate that a plugin uses: a name of its own choice, and the capability that a connector must offer to be bound to it.
public struct GateUse: Sendable, Hashable {
    /// The name by which the plugin calls the gate, and the file binds it in `with`: see ``isIdentifier(_:)``.
    public var name: String
    /// The capability whose operations the plugin may call.
    public var capability: CapabilityID

    /// Creates a use.
    package init(name: String, capability: CapabilityID) {
        self.name = name
        self.capability = capability
    }
}

/// Reads the gates that a plugin uses.
extension JSONReader {
    /// Reads `uses`, an object of capabilities by name.
    ///
    /// - Parameter isForeign: Whether the library is foreign, and so cannot call anything.
    mutating func uses(in object: JSONObject, at path: JSONPath, isForeign: Bool) -> [GateUse] {
        let here = path.appending("uses")
        guard let members = self.object("uses", in: object, at: path)?.members else { return [] }
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
            guard let text = member.value.string else {
                report(
                    .wrongType,
                    "\(path) must be a capability such as \"settings/1\", not \(member.value.kind)",
                    at: path
                )
                return nil
            }
            guard let capability = CapabilityID(text) else {
                report(.invalidValue, "the capability \"\(text.excerpt)\" must be like settings/1", at: path)
                return nil
            }
            return GateUse(name: member.name, capability: capability)
        }
    }
}
