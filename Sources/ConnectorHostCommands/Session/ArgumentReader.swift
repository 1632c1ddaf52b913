// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// Makes an operation's arguments from the words of a command line.
///
/// A word is the value of the next parameter, or `NAME=VALUE`. Values are JSON, except that a `string` is taken as it
/// is. A single JSON object may hold all arguments by name, unless the first parameter takes `json` itself. If exactly
/// one parameter takes `json`, `NAME=VALUE` with any other name is a member of it: `query=Berlin limit=1`.
struct ArgumentReader {
    /// The operation to call.
    let operation: String
    /// The signature of the operation.
    let signature: Signature

    private var inputs: [Signature.Parameter] { signature.parameters.filter { $0.direction == .in } }

    /// The arguments by name. The call itself checks whether they fit.
    ///
    /// - Throws: `invalid`, with the signature.
    func arguments(_ words: [String]) throws(ConnectorError) -> JSONObject {
        if words.count == 1, let first = inputs.first, first.type != .json, let word = words.first, word.hasPrefix("{"),
            case .object(let object)? = try? JSONValue(parsing: word)
        {
            return object
        }
        var arguments = JSONObject()
        var members = JSONObject()
        var position = 0
        for word in words {
            let (parameter, text): (Signature.Parameter, String)
            if let (name, value) = Self.assignment(word) {
                if isMember(name, value) {
                    guard members[name] == nil else { throw wrong("\(operation): \"\(name)\" is given twice") }
                    members[name] = (try? JSONValue(parsing: value)) ?? .string(value)
                    continue
                }
                guard let named = inputs.first(where: { $0.name == name }) else {
                    let hint = suggestion(for: name, among: inputs.map(\.name)).map { "; \($0)" } ?? ""
                    throw wrong("\(operation) has no parameter \"\(name)\"\(hint)")
                }
                (parameter, text) = (named, value)
            } else {
                guard position < inputs.count else {
                    throw wrong("\(operation) takes at most \(inputs.count) arguments; \"\(word)\" is one too many")
                }
                (parameter, text) = (inputs[position], word)
                position += 1
            }
            guard arguments[parameter.name] == nil else {
                throw wrong("\(operation): \"\(parameter.name)\" is given twice")
            }
            arguments[parameter.name] = try value(text, of: parameter)
        }
        if let container, !members.isEmpty {
            guard arguments[container.name] == nil else {
                throw wrong("\(operation): give \(container.name) as a whole, or its members, not both")
            }
            arguments[container.name] = .object(members)
        }
        return arguments
    }

    /// The only parameter that takes `json`; nil if there are none or several.
    private var container: Signature.Parameter? {
        let structured = inputs.filter { $0.type == .json }
        return structured.count == 1 ? structured.first : nil
    }

    /// Whether `NAME=VALUE` is a member of the only parameter that takes `json`, rather than a parameter itself.
    private func isMember(_ name: String, _ value: String) -> Bool {
        guard let container else { return false }
        guard name == container.name else { return !inputs.contains { $0.name == name } }
        // A member may have the name of its parameter, as in event="Order Completed" for the parameter event.
        return switch try? JSONValue(parsing: value) {
        case .object, .array: false
        default: true
        }
    }

    /// Splits `NAME=VALUE`; nil for any other word.
    private static func assignment(_ word: String) -> (name: String, value: String)? {
        guard let equals = word.firstIndex(of: "="), let first = word.utf8.first else { return nil }
        let name = word[..<equals]
        let isName = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        }
        guard !name.isEmpty, isName, !(0x30...0x39).contains(first) else { return nil }
        return (String(name), String(word[word.index(after: equals)...]))
    }

    private func value(_ text: String, of parameter: Signature.Parameter) throws(ConnectorError) -> JSONValue {
        if parameter.type.isText {
            // Bytes that are not text are written as {"base64": "…"}.
            let base64 = text.hasPrefix("{") ? try? JSONValue(parsing: text) : nil
            return base64.flatMap { $0["base64"] == nil ? nil : $0 } ?? .string(text)
        }
        do throws(ConnectorError) {
            return try JSONValue(parsing: text)
        } catch {
            throw wrong("\(operation), \(parameter.name): \"\(text)\" is not JSON", cause: error.message)
        }
    }

    private func wrong(_ message: String, cause: String? = nil) -> ConnectorError {
        ConnectorError(.invalid, message, fix: "call it as \(operation)\(signature)", cause: cause)
    }
}

extension ValueType {
    /// Whether a word of the command line is taken as it is.
    fileprivate var isText: Bool {
        switch self {
        case .string, .cstring, .bytes, .bytes32: true
        default: false
        }
    }
}
