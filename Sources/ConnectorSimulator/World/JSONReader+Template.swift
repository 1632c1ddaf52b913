// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads JSON whose texts may refer to values.
extension JSONReader {
    /// Reads a member; nil if absent.
    ///
    /// - Parameter scope: The values that its references may name.
    mutating func template(
        _ name: String,
        in object: JSONObject,
        at place: JSONPath,
        _ scope: [String]
    ) -> JSONTemplate? {
        guard let value = object[name] else { return nil }
        return template(value, at: place.appending(name), scope)
    }

    /// Reads a value, whose depth is limited because it comes from a JSON text.
    mutating func template(_ value: JSONValue, at place: JSONPath, _ scope: [String]) -> JSONTemplate {
        switch value {
        case .null, .bool, .integer, .number: return .value(value)
        case .string(let text): return template(text, at: place, scope)
        case .array(let elements):
            return .array(elements.enumerated().map { template($1, at: place.appending($0), scope) })
        case .object(let object):
            return .object(object.members.map { ($0.name, template($0.value, at: place.appending($0.name), scope)) })
        }
    }

    private mutating func template(_ text: String, at place: JSONPath, _ scope: [String]) -> JSONTemplate {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return .value(.string(text)) }
        do throws(Template.ParseError) {
            let template = try Template(
                parsing: text,
                isName: { Self.isReference($0, scope) },
                otherwise: "names no value"
            )
            return .text(template, at: place)
        } catch {
            guard hasRoom() else { return .value(.null) }
            let needs = [
                "record": "${record} needs \"read\", \"remove\" or \"keep\"", "records": "${records} needs \"list\"",
            ]
            let named = scope.map { "${\($0)}" }.joined(separator: ", ")
            let lacking = needs.filter { !scope.contains($0.key) && text.contains("${\($0.key)") }.values.sorted()
            report(
                .invalidValue,
                error.message,
                fix: (["here are \(named) and their members"] + lacking).joined(separator: "; "),
                at: place
            )
            return .value(.null)
        }
    }

    /// Whether a text names a value of the scope, or a member of one by a path with dots.
    private static func isReference(_ text: Substring, _ scope: [String]) -> Bool {
        let parts = text.split(ascii: ".", omittingEmptySubsequences: false)
        return parts.first.map { scope.contains(String($0)) } ?? false
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: "-") }
            }
    }
}
