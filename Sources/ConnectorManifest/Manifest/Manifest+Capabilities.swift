// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads capabilities: every operation written out or, for a standard capability, only the differences.
///
/// | in the manifest | means |
/// |---|---|
/// | `"analytics/1": {}` | every operation |
/// | `"analytics/1": ["track", "flush"]` | these operations |
/// | `"analytics/1": {"except": ["alias"]}` | every operation but these |
/// | `"analytics/1": {"track": {…}}` | the named operations; omitted members come from the definition |
/// | `"analytics/1": {"except": [], "track": {…}}` | every operation, some with their own entries |
///
/// An omitted symbol defaults to the plugin's id and the operation's name: `segment_track`.
extension JSONReader {
    /// The key that excludes operations.
    private static let exception = "except"
    /// The keys of an operation of a foreign library, besides those of every operation.
    private static let foreignKeys = ["status", "statusType", "codes", "releases"]

    /// Reads every capability.
    ///
    /// - Parameters:
    ///   - object: The manifest.
    ///   - plugin: The plugin's id, for symbols; nil if unreadable.
    ///   - isForeign: Whether the library is foreign, that is, not written for connectors.
    mutating func capabilities(
        in object: JSONObject,
        at path: JSONPath,
        plugin: String?,
        isForeign: Bool
    ) -> [Capability] {
        let here = path.appending("capabilities")
        let capabilities = self.object("capabilities", in: object, at: path)?.withoutAnnotations ?? JSONObject()
        return capabilities.members.compactMap { member in
            let path = here.appending(member.name)
            guard let id = CapabilityID(member.name) else {
                report(
                    .invalidValue,
                    "the capability \"\(member.name.excerpt)\" must be like geocoder/1",
                    at: path,
                    .name
                )
                return nil
            }
            let definition = CapabilityDefinition.standard(id)
            guard let written = operations(member.value, of: definition, id, at: path) else { return nil }
            return Capability(
                id: id,
                operations: written.compactMap { operation in
                    self.operation(
                        named: operation.name,
                        operation.value,
                        of: definition,
                        symbol: plugin.map { Manifest.symbol(of: operation.name, plugin: $0) },
                        at: path.appending(operation.name),
                        isForeign: isForeign
                    )
                }
            )
        }
    }

    /// The operations of a capability in order, each with its entry in the manifest; nil if they cannot be determined.
    private mutating func operations(
        _ value: JSONValue,
        of definition: CapabilityDefinition?,
        _ id: CapabilityID,
        at path: JSONPath
    ) -> [JSONObject.Member]? {
        guard let definition else {
            guard let object = value.object?.withoutAnnotations, !object.isEmpty else {
                reportShort(value, of: id, at: path)
                return nil
            }
            for name in object.names where !isOperationName(name) && hasRoom() {
                report(
                    .invalidValue,
                    "the name \"\(name.excerpt)\" of an operation must be \(operationNameRule)",
                    at: path.appending(name),
                    .name
                )
            }
            return object.members
        }
        let all = definition.operations.map(\.name)
        switch value {
        case .array:
            return names(value, of: definition, at: path).map { JSONObject.Member(name: $0, value: [:]) }
        case .object(let written):
            let object = written.withoutAnnotations
            guard object.isEmpty || object[Self.exception] != nil else { return object.members }
            let here = path.appending(Self.exception)
            let left = object[Self.exception].map { names($0, of: definition, at: here) } ?? []
            var members = all.filter { !left.contains($0) || object[$0] != nil }.map { name in
                JSONObject.Member(name: name, value: object[name] ?? [:])
            }
            for member in object.members where left.contains(member.name) {
                report(
                    .invalidValue,
                    "\"\(member.name)\" is both described and excluded",
                    at: path.appending(member.name),
                    .name
                )
            }
            members += object.members.filter { $0.name != Self.exception && !all.contains($0.name) }
            return members
        default:
            report(
                .wrongType,
                "\(path) must be an object of operations or an array of their names, not \(value.kind)",
                at: path
            )
            return nil
        }
    }

    /// Reports a short form of a user's own capability, whose operations only the manifest can define.
    private mutating func reportShort(_ value: JSONValue, of id: CapabilityID, at path: JSONPath) {
        switch value {
        case .array, .object:
            report(
                .invalidValue,
                "\(id) is not a standard capability, so each of its operations needs a symbol and a signature",
                fix: suggestion(for: "\(id)", among: CapabilityDefinition.all.map(\.id)),
                at: path,
                .name
            )
        default: report(.wrongType, "\(path) must be an object of operations, not \(value.kind)", at: path)
        }
    }

    /// The known operation names in an array.
    private mutating func names(_ value: JSONValue, of definition: CapabilityDefinition, at path: JSONPath) -> [String]
    {
        guard let elements = value.array else {
            report(.wrongType, "\(path) must be an array of names of operations, not \(value.kind)", at: path)
            return []
        }
        let known = definition.operations.map(\.name)
        var names: [String] = []
        for (index, element) in elements.enumerated() {
            let here = path.appending(index)
            guard let name = element.string else {
                report(.wrongType, "\(here) must be the name of an operation, not \(element.kind)", at: here)
                continue
            }
            guard known.contains(name) else {
                report(
                    .unknownKey,
                    "\(definition.id) has no operation \"\(name.excerpt)\"",
                    fix: suggestion(for: name, among: known),
                    at: here
                )
                continue
            }
            guard !names.contains(name) else {
                report(.invalidValue, "\"\(name)\" is listed twice", at: here)
                continue
            }
            names.append(name)
        }
        return names
    }

    private mutating func operation(
        named name: String,
        _ value: JSONValue,
        of definition: CapabilityDefinition?,
        symbol derived: String?,
        at path: JSONPath,
        isForeign: Bool
    ) -> Operation? {
        let defined = definition?.operations.first { $0.name == name }
        if let definition, defined == nil {
            reportUnknown(name, allowed: definition.operations.map(\.name) + [Self.exception], at: path.parent)
            return nil
        }
        let written = isForeign ? value : withoutForeignKeys(value, at: path)
        guard
            let object = members(
                of: written,
                at: path,
                allowed: ["symbol", "signature", "documentation", "delivered", "prompt", "safe"]
                    + (isForeign ? Self.foreignKeys : [])
            )
        else {
            return nil
        }
        let given = string("symbol", in: object, at: path, required: defined == nil)
        if let given { checkSymbol(given, at: path.appending("symbol")) }
        let text = string("signature", in: object, at: path, required: defined == nil) ?? defined?.signature
        guard let text, let symbol = given ?? derived else { return nil }
        let signature: Signature
        let resultName: String?
        do throws(ConnectorError) {
            (signature, resultName) = try Signature.reading(text)
        } catch {
            let place = path.appending("signature")
            report(error.code, "\(self.name(of: place)): \(error.message)", fix: error.fix, at: place)
            return nil
        }
        if let defined, let required = try? Signature(parsing: defined.signature), required != signature {
            report(
                .signatureMismatch,
                "\(name) is declared as \(signature), but \(definition?.id ?? "") requires \(required)",
                fix: "change the signature and the function to the capability's",
                at: path.appending("signature")
            )
        }
        return Operation(
            name: name,
            symbol: symbol,
            signature: signature,
            documentation: string("documentation", in: object, at: path) ?? defined?.documentation ?? "",
            isDelivered: bool("delivered", in: object, at: path) ?? defined?.isDelivered ?? false,
            isPrompt: bool("prompt", in: object, at: path) ?? false,
            isSafe: bool("safe", in: object, at: path) ?? defined?.isSafe ?? false,
            foreign: isForeign ? convention(of: signature, resultName, in: object, at: path) : nil
        )
    }

    /// Reports the keys that only an operation of a foreign library has.
    ///
    /// - Returns: The operation without them.
    private mutating func withoutForeignKeys(_ value: JSONValue, at path: JSONPath) -> JSONValue {
        guard var object = value.object else { return value }
        for name in Self.foreignKeys where object[name] != nil {
            object[name] = nil
            guard hasRoom() else { continue }
            report(
                .unknownKey,
                "\"\(name)\" is for a foreign library only, which has a \"library\" and no \"entry\"",
                fix: "remove it",
                at: path.appending(name),
                .name
            )
        }
        return .object(object)
    }
}
