// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// The validated values of a request.
package struct ControlInput: Sendable {
    /// The values of the path, the query and the body.
    var values: JSONObject
    /// The format of the stream that the client requested; nil for no stream.
    var format: ControlStream.Format?

    /// The value of a text field; nil if missing.
    subscript(name: String) -> String? { values[name]?.string }

    /// The value of an integer field; nil if missing.
    func integer(_ name: String) -> Int? { values[name]?.integer.map { Int(clamping: $0) } }

    /// Whether a flag is set.
    func flag(_ name: String) -> Bool { values[name]?.bool ?? false }

    /// The values of an array of texts; nil if missing.
    func texts(_ name: String) -> [String]? { values[name]?.array?.compactMap(\.string) }
}

extension ControlEndpoint {
    /// Validates a request.
    ///
    /// - Parameter segments: The values in the path.
    /// - Throws: `invalid`, with the name of the invalid value and, in the body, its position.
    func input(_ request: ServerRequest, _ segments: JSONObject) throws(ConnectorError) -> ControlInput {
        var values = segments
        for (name, value) in try parameters(of: request) { values[name] = value }
        if let body {
            for member in try members(of: request.body, body).members { values[member.name] = member.value }
        }
        let format = ControlStream.Format(
            accept: request.fields["Accept"],
            orDocument: answers.contains { $0.contentTypes.contains(ServerResponse.json) }
        )
        return ControlInput(values: values, format: format)
    }

    /// The values in the query.
    private func parameters(of request: ServerRequest) throws(ConnectorError) -> [(String, JSONValue)] {
        let text = request.query.prefix(before: "#")
        var values: [(String, JSONValue)] = []
        for item in QueryItems.encoded(text) {
            let name = PercentCoding.decode(item.name, plusIsSpace: true)
            guard let field = query.first(where: { $0.name == name }) else { continue }
            guard !values.contains(where: { $0.0 == name }) else {
                throw ConnectorError(.invalid, "the parameter \(name) is given twice")
            }
            guard let text = PercentCoding.text(item.value ?? "", plusIsSpace: true) else {
                throw ConnectorError(.invalid, "the parameter \(name) is not percent-encoded UTF-8")
            }
            let value = field.value(text)
            if let problem = field.problem(of: value) {
                throw ConnectorError(.invalid, "the parameter \(name) must be \(problem), not \"\(text.excerpt)\"")
            }
            values.append((name, value))
        }
        if let missing = query.first(where: { field in field.isRequired && !values.contains { $0.0 == field.name } }) {
            throw ConnectorError(.invalid, "the parameter \(missing.name) is missing: \(missing.meaning)")
        }
        return values
    }

    /// The members of the body.
    private func members(
        of body: [UInt8],
        _ fields: [ControlField]
    ) throws(ConnectorError) -> JSONObject {
        let value = try JSONValue(document: body, file: Self.file)
        func wrong(_ message: String, _ path: JSONPath, _ part: JSONLocator.Part = .value) -> ConnectorError {
            ConnectorError(
                .invalid,
                message,
                position: JSONLocator.position(of: path, part, in: body, file: Self.file)
            )
        }
        guard case .object(let object) = value else {
            throw wrong("the body must be an object, not \(value.kind)", JSONPath())
        }
        for member in object.members {
            let path = JSONPath().appending(member.name)
            guard let field = fields.first(where: { $0.name == member.name }) else {
                var error = wrong("there is no member \"\(member.name.excerpt)\"", path, .name)
                error.fix = suggestion(for: member.name, among: fields.map(\.name))
                throw error
            }
            if let problem = field.problem(of: member.value) {
                let text = member.value.serialized()
                let actual = text.utf8.count > 60 ? member.value.kind : text
                throw wrong("\"\(member.name)\" must be \(problem), not \(actual)", path)
            }
        }
        for field in fields where field.isRequired && object[field.name] == nil {
            throw wrong("\"\(field.name)\" is missing: \(field.meaning)", JSONPath())
        }
        guard choice.isEmpty || choice.count(where: { object[$0] != nil }) == 1 else {
            let names = choice.map { "\"\($0)\"" }.joined(separator: " or ")
            throw wrong("exactly one of these members is required: \(names)", JSONPath())
        }
        return object
    }

    /// The name of the body in the positions of errors.
    private static var file: String { "body" }
}
