// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorCapabilities

/// Converts text to an operation's arguments: the words of a command line, or the fields of a form.
///
/// A word is the value of the next parameter, or `NAME=VALUE`. Values are JSON, except that a `string` is taken
/// verbatim. A single JSON object may hold all arguments by name, unless the first parameter takes `json`; where that
/// takes a text, an object with any other name is the text, and where it takes a handle, `{"handle": 1}` is the handle.
/// If exactly one parameter takes `json`, `NAME=VALUE` with any other name is a member of it: `query=Berlin limit=1`. A
/// member whose type in the model is text is also taken verbatim, unless it is written as a JSON string. Where a text may
/// stand without quotation marks, one that begins as an object or an array must be JSON: it would be a mistake in it
/// otherwise.
package struct ArgumentReader: Sendable, Hashable {
    /// The operation to call.
    package let operation: String
    /// The signature of the operation.
    package let signature: Signature
    /// The known members of the only `json` parameter; empty if it takes any members.
    package let members: [ModelMember]
    /// Whether the only `json` parameter takes any value, so that a text that is not JSON is taken as a string.
    private let isAnyValue: Bool

    /// Creates a reader for an operation of a capability.
    package init(_ operation: Operation, of capability: CapabilityID) {
        self.operation = operation.name
        signature = operation.signature
        members = ModelMember.members(of: operation.name, in: capability.description)
        isAnyValue = ModelMember.isAnyValue(of: operation.name, in: capability.description)
    }

    /// A text, and the parameter or member whose value it is.
    package struct Entry: Sendable, Hashable {
        /// The name of a parameter, or of a member of the only `json` parameter.
        package var name: String
        /// Whether the name is that of a member.
        package var isMember: Bool
        /// The text as written.
        package var text: String

        /// Creates an entry for a parameter or member.
        package init(_ name: String, isMember: Bool = false, _ text: String) {
            (self.name, self.isMember, self.text) = (name, isMember, text)
        }
    }

    /// The input parameters.
    package var inputs: [Signature.Parameter] { signature.parameters.filter { $0.direction == .in } }

    /// The only `json` parameter, if it takes members; nil if there are none or several.
    package var container: Signature.Parameter? {
        guard !isAnyValue else { return nil }
        let structured = inputs.filter { $0.type == .json }
        return structured.count == 1 ? structured.first : nil
    }

    /// The arguments by name. Their types are checked later, by the call.
    ///
    /// - Throws: `invalid`, with the signature.
    package func arguments(_ words: [String]) throws(ConnectorError) -> JSONObject {
        if words.count == 1, let first = inputs.first, first.type != .json, let word = words.first, word.hasPrefix("{"),
            case .object(let object)? = try? JSONValue(parsing: word), !(first.type == .handle && object.isHandle),
            !first.type.isText || !object.isEmpty && object.names.allSatisfy(isInput)
        {
            return object
        }
        var entries: [Entry] = []
        var position = 0
        for word in words {
            if let (name, value) = Self.assignment(word) {
                entries.append(Entry(name, isMember: isMember(name, value), value))
                continue
            }
            guard position < inputs.count else {
                let most =
                    switch inputs.count {
                    case 0: "no arguments"
                    case 1: "one argument"
                    default: "at most \(inputs.count) arguments"
                    }
                throw wrong("\(operation) takes \(most); \"\(word.excerpt)\" is one too many")
            }
            entries.append(Entry(inputs[position].name, word))
            position += 1
        }
        return try arguments(entries)
    }

    /// The arguments by name, from texts whose parameters are known.
    ///
    /// - Throws: `invalid`, with the signature.
    package func arguments(_ entries: [Entry]) throws(ConnectorError) -> JSONObject {
        var arguments = JSONObject()
        var members = JSONObject()
        for entry in entries {
            let known = entry.isMember ? members[entry.name] : arguments[entry.name]
            guard known == nil else { throw wrong("\(operation): \"\(entry.name)\" is given twice") }
            let value = try value(of: entry)
            if entry.isMember { members[entry.name] = value } else { arguments[entry.name] = value }
        }
        if let container, !members.isEmpty {
            guard arguments[container.name] == nil else {
                throw wrong("\(operation): give \(container.name) as a whole, or its members, not both")
            }
            arguments[container.name] = .object(members)
        }
        return arguments
    }

    /// The value of a text.
    ///
    /// - Throws: `invalid`, with the signature, if the operation has no such parameter, or its model no such member, or if
    ///   the text must be JSON but is not.
    package func value(of entry: Entry) throws(ConnectorError) -> JSONValue {
        if entry.isMember {
            guard members.isEmpty || members.contains(where: { $0.name == entry.name }) else {
                throw unknown("member", entry.name, among: members.map(\.name))
            }
            guard isText(member: entry.name) else { return try anyValue(entry.text, of: entry.name) }
            let literal = entry.text.hasPrefix("\"") ? try? JSONValue(parsing: entry.text) : nil
            return literal ?? .string(entry.text)
        }
        guard let parameter = inputs.first(where: { $0.name == entry.name }) else {
            throw unknown("parameter", entry.name, among: inputs.map(\.name))
        }
        return try value(entry.text, of: parameter)
    }

    /// The words of a command line that yield the arguments; nil if no words can.
    package func words(for arguments: JSONObject) -> [String]? {
        var words: [String] = []
        for argument in arguments.members {
            if let container, container.name == argument.name, case .object(let object) = argument.value {
                let members = object.members.map { "\($0.name)=\(text(ofMember: $0.name, $0.value))" }
                if !members.isEmpty, (try? self.arguments(members)) == [argument.name: argument.value] {
                    words += members
                    continue
                }
            }
            let isText = inputs.contains { $0.name == argument.name && $0.type.isText }
            words.append("\(argument.name)=\((isText ? argument.value.string : nil) ?? argument.value.serialized())")
        }
        var forms = [words, [JSONValue.object(arguments).serialized()]]
        // A scalar for the only `json` parameter cannot follow its name, which would make it a member.
        if arguments.members.count == 1, let only = arguments.members.first { forms.append([only.value.serialized()]) }
        return forms.first { form in
            // A program's argument contains no NUL, and one that begins with a hyphen is an option.
            !form.contains { $0.utf8.contains(0) || $0.utf8.first == UInt8(ascii: "-") }
                && (try? self.arguments(form)) == arguments
        }
    }

    private func text(ofMember name: String, _ value: JSONValue) -> String {
        guard let text = value.string else { return value.serialized() }
        let entry = Entry(name, isMember: true, text)
        return (try? self.value(of: entry)) == value ? text : value.serialized()
    }

    private func isText(member name: String) -> Bool {
        members.first { $0.name == name }.map { $0.kind.isText } ?? false
    }

    private func isInput(_ name: String) -> Bool { inputs.contains { $0.name == name } }

    /// Whether `NAME=VALUE` is a member of the only `json` parameter rather than a parameter.
    private func isMember(_ name: String, _ value: String) -> Bool {
        guard let container else { return false }
        guard name == container.name else { return !isInput(name) }
        // A member may have the name of its parameter, as in event="Order Completed" for the parameter event.
        return !Self.isStructure(value)
    }

    /// Whether a text begins as an object or an array does.
    private static func isStructure(_ text: String) -> Bool {
        let first = text.utf8.first { !$0.isWhitespace }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Splits `NAME=VALUE`; nil for any other word.
    private static func assignment(_ word: String) -> (name: String, value: String)? {
        guard let equals = word.firstIndex(of: "=") else { return nil }
        let name = word[..<equals]
        guard name.isCIdentifier else { return nil }
        return (String(name), String(word[word.index(after: equals)...]))
    }

    private func value(_ text: String, of parameter: Signature.Parameter) throws(ConnectorError) -> JSONValue {
        if parameter.type.isText {
            // Bytes that are not text are written as {"base64": "…"}.
            let isBytes = parameter.type == .bytes || parameter.type == .bytes32
            if isBytes, text.hasPrefix("{"), let value = try? JSONValue(parsing: text), value["base64"] != nil {
                return value
            }
            return .string(text)
        }
        // JSONValue's integers end below 2⁶³; larger ones are passed as a string of digits, which is exact.
        if parameter.type == .u64, UInt64(text) != nil, Int64(text) == nil { return .string(text) }
        if parameter.type == .json, isAnyValue { return try anyValue(text, of: parameter.name) }
        do throws(ConnectorError) {
            return try JSONValue(parsing: text)
        } catch {
            throw notJSON(text, of: parameter.name, error, otherwise: memberHint(for: text, in: parameter))
        }
    }

    /// The value of a text that need not be JSON, unless it begins as an object or an array.
    private func anyValue(_ text: String, of name: String) throws(ConnectorError) -> JSONValue {
        do throws(ConnectorError) {
            return try JSONValue(parsing: text)
        } catch {
            guard Self.isStructure(text) else { return .string(text) }
            throw notJSON(text, of: name, error, otherwise: ", with a text in double quotes")
        }
    }

    /// The error for a text that is not JSON, with the place of the mistake if it was meant to be an object or an array.
    private func notJSON(
        _ text: String,
        of name: String,
        _ error: ConnectorError,
        otherwise hint: String
    ) -> ConnectorError {
        let place = Self.isStructure(text) ? error.position.map { " at \($0)" } ?? "" : ""
        let reason = place.isEmpty ? "" : "\(place): \(error.message)"
        return wrong(
            "\(operation), \(name): \"\(text.excerpt)\" is not JSON\(reason)",
            otherwise: hint,
            cause: error.message
        )
    }

    /// How to pass a text as a member of a parameter instead; empty if the parameter has no known members.
    private func memberHint(for text: String, in parameter: Signature.Parameter) -> String {
        let example = members.first(where: \.isRequired) ?? members.first
        guard parameter == container, let member = example else { return "" }
        let value = member.kind.isText && text.isCIdentifier ? text : "…"
        return ", or name a member: \(member.name)=\(value)"
    }

    private func unknown(_ what: String, _ name: String, among known: [String]) -> ConnectorError {
        let hint = suggestion(for: name, among: known).map { "; \($0)" } ?? ""
        return wrong("\(operation) has no \(what) \"\(name.excerpt)\"\(hint)")
    }

    private func wrong(_ message: String, otherwise hint: String = "", cause: String? = nil) -> ConnectorError {
        ConnectorError(.invalid, message, fix: "call it as \(operation)\(signature)\(hint)", cause: cause)
    }
}

extension JSONObject {
    /// Whether this is how JSON writes a handle.
    fileprivate var isHandle: Bool { names == ["handle"] && self["handle"]?.integer != nil }
}

extension ValueType {
    /// Whether a word of the command line is used verbatim.
    package var isText: Bool {
        switch self {
        case .string, .cstring, .bytes, .bytes32: true
        default: false
        }
    }
}
