// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads the scenes of a manifest.
extension JSONReader {
    private static let sceneKeys = ["title", "components"]
    private static let componentKeys = [
        "title", "as", "operation", "arguments", "every", "events", "rows", "columns",
    ]
    private static let columnKeys = ["title", "value", "number"]

    /// Reads `scenes`, an object of scenes by name.
    ///
    /// - Parameter capabilities: The capabilities of the plugin, whose operations scenes may call.
    mutating func scenes(in object: JSONObject, at path: JSONPath, _ capabilities: [Capability]) -> [ManifestScene] {
        let here = path.appending("scenes")
        guard let members = self.object("scenes", in: object, at: path)?.withoutAnnotations.members else { return [] }
        checkCount(members.count, ManifestScene.limit, "scenes", at: here)
        return members.prefix(ManifestScene.limit).compactMap { member in
            let path = here.appending(member.name)
            checkIdentifier(member.name, at: path)
            guard let scene = self.members(of: member.value, at: path, allowed: Self.sceneKeys) else { return nil }
            let inside = path.appending("components")
            let parts = value("components", in: scene, at: path, required: true, kind: "an object") {
                $0.object?.withoutAnnotations
            }
            checkCount(parts?.members.count ?? 0, ManifestScene.partLimit, "components", at: inside)
            if parts?.isEmpty == true { report(.invalidValue, "\(inside) must have a component", at: inside) }
            return ManifestScene(
                name: member.name,
                title: title(in: scene, at: path) ?? member.name,
                components: (parts?.members ?? []).prefix(ManifestScene.partLimit).compactMap { part in
                    component(part, at: inside.appending(part.name), capabilities)
                }
            )
        }
    }

    private mutating func component(
        _ member: JSONObject.Member,
        at path: JSONPath,
        _ capabilities: [Capability]
    ) -> ManifestScene.Component? {
        checkIdentifier(member.name, at: path)
        guard let object = members(of: member.value, at: path, allowed: Self.componentKeys) else { return nil }
        let shape = shape(in: object, at: path)
        let operation = string("operation", in: object, at: path)
        let events = strings("events", in: object, at: path)
        if (operation == nil) == (object["events"] == nil) {
            report(
                .invalidValue,
                "\(path) must have either an \"operation\" to call or \"events\" to show",
                fix: operation == nil ? nil : "make two components of it",
                at: path,
                .name
            )
        } else if operation == nil, events.isEmpty || events.contains(where: \.isEmpty) {
            report(.invalidValue, "\(path.appending("events")) must name events", at: path.appending("events"))
        }
        for name in ["arguments", "every"] where operation == nil && object[name] != nil {
            report(.invalidValue, "\(name) belongs to an \"operation\"", at: path.appending(name), .name)
        }
        let arguments = self.object("arguments", in: object, at: path)?.withoutAnnotations ?? JSONObject()
        if let operation { check(operation, arguments, at: path, capabilities) }
        let columns = columns(in: object, at: path)
        if shape == .chart, !columns.contains(where: \.isNumber) {
            report(.invalidValue, "\(path) is a chart, which needs a column with \"number\": true", at: path, .name)
        }
        if shape == .details, columns.isEmpty {
            report(.invalidValue, "\(path) shows details, which need \"columns\"", at: path, .name)
        }
        return ManifestScene.Component(
            id: member.name,
            title: title(in: object, at: path) ?? "",
            shape: shape,
            operation: operation,
            arguments: arguments,
            interval: interval(in: object, at: path),
            events: events,
            rows: memberPath("rows", in: object, at: path) ?? [],
            columns: columns
        )
    }

    /// Reports an operation that is unknown or that a scene must not call repeatedly, and arguments that do not fit it.
    private mutating func check(
        _ name: String,
        _ arguments: JSONObject,
        at path: JSONPath,
        _ capabilities: [Capability]
    ) {
        let here = path.appending("operation")
        guard let (capability, operation) = capabilities.operation(named: name) else {
            let known = capabilities.flatMap(\.operations).map(\.name)
            let fix = suggestion(for: name, among: known)
            report(.unknownKey, "the plugin has no operation \"\(name.excerpt)\"", fix: fix, at: here)
            return
        }
        let definition = CapabilityDefinition.standard(capability.id)?.operations.first { $0.name == operation.name }
        if operation.isDelivered || definition?.loss != nil {
            let reason = operation.isDelivered ? "sends something" : "loses something"
            report(.invalidValue, "a scene cannot call \(name), which \(reason) each time", at: here)
        }
        let inputs = operation.signature.parameters.filter { $0.direction == .in }
        let names = inputs.map(\.name)
        for argument in arguments.names where !names.contains(argument) && hasRoom() {
            reportUnknown(argument, allowed: names, at: path.appending("arguments"))
        }
        for input in inputs where !input.isOptional && arguments[input.name] == nil && hasRoom() {
            report(.missingValue, "\(name) needs the argument \"\(input.name)\"", at: path.appending("operation"))
        }
    }

    private mutating func columns(in object: JSONObject, at path: JSONPath) -> [ManifestScene.Column] {
        let here = path.appending("columns")
        let elements = value("columns", in: object, at: path, kind: "an array of columns") { $0.array } ?? []
        checkCount(elements.count, ManifestScene.partLimit, "columns", at: here)
        return elements.prefix(ManifestScene.partLimit).enumerated().compactMap { index, element in
            let path = here.appending(index)
            guard let column = members(of: element, at: path, allowed: Self.columnKeys) else { return nil }
            guard let value = memberPath("value", in: column, at: path, required: true) else { return nil }
            return ManifestScene.Column(
                title: title(in: column, at: path) ?? value.joined(separator: "."),
                value: value,
                isNumber: bool("number", in: column, at: path) ?? false
            )
        }
    }

    private mutating func shape(in object: JSONObject, at path: JSONPath) -> ManifestScene.Shape {
        guard let name = string("as", in: object, at: path) else { return .table }
        guard let shape = ManifestScene.Shape(rawValue: name) else {
            let known = ManifestScene.Shape.allCases.map(\.rawValue)
            report(
                .invalidValue,
                "\(path.appending("as")) is \"\(name.excerpt)\"; it must be one of \(known.joined(separator: ", "))",
                fix: suggestion(for: name, among: known),
                at: path.appending("as")
            )
            return .table
        }
        return shape
    }

    /// Reads the time between two calls.
    private mutating func interval(in object: JSONObject, at path: JSONPath) -> Duration {
        guard let text = string("every", in: object, at: path) else { return .seconds(5) }
        let interval = Duration(parsing: text)
        guard let interval, (.seconds(1) ... .seconds(3600)).contains(interval) else {
            let here = path.appending("every")
            report(.invalidValue, "\(here) is \"\(text.excerpt)\"; it must be from \"1s\" to \"1h\"", at: here)
            return .seconds(5)
        }
        return interval
    }

    /// Reads member names separated by dots.
    private mutating func memberPath(
        _ name: String,
        in object: JSONObject,
        at path: JSONPath,
        required isRequired: Bool = false
    ) -> [String]? {
        guard let text = string(name, in: object, at: path, required: isRequired) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !parts.contains(""), parts.count <= ManifestScene.partLimit else {
            let here = path.appending(name)
            report(.invalidValue, "\(here) must be names of members, such as \"place.name\"", at: here)
            return nil
        }
        return parts
    }

    private mutating func title(in object: JSONObject, at path: JSONPath) -> String? {
        guard let title = string("title", in: object, at: path) else { return nil }
        let isPlain = title.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...ManifestScene.titleLimit).contains(title.count), isPlain else {
            let here = path.appending("title")
            let rule = "1 to \(ManifestScene.titleLimit) characters in one line"
            report(.invalidValue, "\(here) must be \(rule)", at: here)
            return nil
        }
        return title
    }

    private mutating func checkIdentifier(_ name: String, at path: JSONPath) {
        guard !isIdentifier(name) else { return }
        report(.invalidValue, "the name \"\(name.excerpt)\" must be \(identifierRule)", at: path, .name)
    }

    private mutating func checkCount(_ count: Int, _ limit: Int, _ what: String, at path: JSONPath) {
        guard count > limit else { return }
        report(.invalidValue, "\(count) \(what) are more than \(limit)", at: path)
    }
}
