// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// What a request asks for, once it was checked.
package struct ControlInput: Sendable {
    /// The values of the path, the query and the body.
    var values: JSONObject
    /// How the client wants a stream; nil if it did not ask for one.
    var format: ControlStream.Format?

    /// A text.
    subscript(name: String) -> String? { values[name]?.string }

    /// A whole number.
    func integer(_ name: String) -> Int? { values[name]?.integer.map { Int(clamping: $0) } }

    /// Whether a flag is set.
    func flag(_ name: String) -> Bool { values[name]?.bool ?? false }

    /// Texts.
    func texts(_ name: String) -> [String]? { values[name]?.array?.compactMap(\.string) }
}

extension ControlEndpoint {
    /// Checks a request.
    ///
    /// - Parameter segments: The values of the path.
    /// - Throws: `invalid`, with the name of the value and its place in the body.
    func input(_ request: ServerRequest, _ segments: JSONObject) throws(ConnectorError) -> ControlInput {
        var values = segments
        for (name, value) in try parameters(of: request) { values[name] = value }
        if let body {
            for member in try members(of: request.body, body).members { values[member.name] = member.value }
        }
        return ControlInput(values: values, format: ControlStream.Format(accept: request.fields["Accept"]))
    }

    /// The values in the query.
    private func parameters(of request: ServerRequest) throws(ConnectorError) -> [(String, JSONValue)] {
        let text = request.query.prefix { $0 != "#" }
        var found: [(String, JSONValue)] = []
        for item in QueryItems.encoded(text) {
            let name = PercentCoding.decode(item.name, plusIsSpace: true)
            guard let field = query.first(where: { $0.name == name }) else { continue }
            guard !found.contains(where: { $0.0 == name }) else {
                throw ConnectorError(.invalid, "the parameter \(name) is given twice")
            }
            guard let text = PercentCoding.text(item.value ?? "", plusIsSpace: true) else {
                throw ConnectorError(.invalid, "the parameter \(name) is not UTF-8 in percent-encoding")
            }
            let value = field.value(text)
            if let problem = field.problem(of: value) {
                throw ConnectorError(.invalid, "the parameter \(name) must be \(problem), not \"\(text.excerpt)\"")
            }
            found.append((name, value))
        }
        if let missing = query.first(where: { field in field.isRequired && !found.contains { $0.0 == field.name } }) {
            throw ConnectorError(.invalid, "the parameter \(missing.name) is missing: \(missing.meaning)")
        }
        return found
    }

    /// The members of a body.
    private func members(
        of body: [UInt8],
        _ fields: [ControlField]
    ) throws(ConnectorError) -> JSONObject {
        let value = try JSONValue(parsing: body, file: Self.file)
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
                let given = text.utf8.count > 60 ? member.value.kind : text
                throw wrong("\"\(member.name)\" must be \(problem), not \(given)", path)
            }
        }
        for field in fields where field.isRequired && object[field.name] == nil {
            throw wrong("\"\(field.name)\" is missing: \(field.meaning)", JSONPath())
        }
        guard choice.isEmpty || choice.count(where: { object[$0] != nil }) == 1 else {
            let names = choice.map { "\"\($0)\"" }.joined(separator: " or ")
            throw wrong("exactly one of them must be there: \(names)", JSONPath())
        }
        return object
    }

    /// What errors call the body.
    private static var file: String { "body" }
}
