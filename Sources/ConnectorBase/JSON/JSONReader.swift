// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Reads parsed JSON files member by member, and collects every problem with its position.
///
/// The manifest and the configuration both use it, so each reports all its problems in one pass.
package struct JSONReader: Sendable {
    /// The texts that positions refer to: the main one, then those that it includes. Each path names its text. Problems in an empty text
    /// have no position.
    package private(set) var texts: [JSONText]
    /// The problems found so far, in the order of the text's structure.
    package var problems: [ConnectorError] = []
    /// The path of the connector that the problems reported next belong to.
    package var connector: String?
    /// The path that messages are relative to: the object of ``connector``, or the root.
    package var origin = JSONPath()
    /// The names of members that hold objects. An unknown `allow.hosts` is meant as the member `hosts` of `allow` if that is one of them.
    package var objectNames: Set<String> = []

    /// How many further problems were found beyond the limit.
    package private(set) var omitted = 0
    /// Created when the first problem needs a position.
    private var locators: [Int: JSONLocator] = [:]

    /// The most problems to report. The first ones often cause the others.
    package static let problemLimit = 100
    /// The most characters of a message or a remedy.
    package static let lengthLimit = 600

    /// Creates a reader of one text, with no problems yet.
    package init(text: [UInt8], file: String) {
        self.init([JSONText(text, file: file)])
    }

    /// Creates a reader of several texts, with no problems yet.
    ///
    /// - Parameter texts: At least one; the first is the main one.
    package init(_ texts: [JSONText]) {
        self.texts = texts
    }

    /// Adds a text that another one includes.
    ///
    /// - Returns: The path of its root.
    package mutating func add(_ text: JSONText) -> JSONPath {
        texts.append(text)
        return JSONPath(text: texts.count - 1)
    }

    /// The position of a value, or of a member's name; nil if its text is empty.
    package mutating func position(of path: JSONPath, _ part: JSONLocator.Part = .value) -> FilePosition? {
        let text = texts[path.text]
        guard !text.bytes.isEmpty else { return nil }
        // Take it out of the dictionary meanwhile, so that changing it makes no copy.
        var locator = locators.removeValue(forKey: path.text) ?? JSONLocator(text.bytes)
        defer { locators[path.text] = locator }
        return locator.position(of: path, part, file: text.file)
    }

    /// Whether another problem can be reported; if not, counts it as omitted.
    ///
    /// A loop over many faulty values calls this before it builds each message.
    package mutating func hasRoom() -> Bool {
        guard problems.count >= Self.problemLimit else { return true }
        omitted += 1
        return false
    }

    /// How many bytes and values were examined to locate problems.
    package var steps: Int { locators.values.reduce(0) { $0 + $1.steps } }

    /// Adds a problem at a path.
    package mutating func report(
        _ code: ConnectorError.Code,
        _ message: String,
        fix: String? = nil,
        at path: JSONPath,
        _ part: JSONLocator.Part = .value
    ) {
        report(ConnectorError(code, message, fix: fix), at: path, part)
    }

    /// Adds an existing error at a path; drops it beyond the limit.
    package mutating func report(
        _ error: ConnectorError,
        at path: JSONPath,
        _ part: JSONLocator.Part = .value
    ) {
        guard hasRoom() else { return }
        var error = error
        // Callers cut each value that they quote; this bounds the message as a whole.
        error.message = error.message.excerpt(of: Self.lengthLimit)
        error.fix = error.fix?.excerpt(of: Self.lengthLimit)
        error.connector = connector
        error.position = position(of: path, part)
        problems.append(error)
    }

    /// The name of a value in messages.
    package func name(of path: JSONPath) -> String {
        guard path.steps.starts(with: origin.steps), path.steps.count > origin.steps.count else {
            return path.steps.isEmpty ? "the text" : path.description.excerpt
        }
        var relative = JSONPath()
        relative.steps = Array(path.steps.dropFirst(origin.steps.count))
        return relative.description.excerpt
    }

    /// The members of a value that must be an object; reports members that are not allowed, except `$…` names.
    package mutating func members(of value: JSONValue, at path: JSONPath, allowed: [String]) -> JSONObject? {
        guard case .object(let object) = value else {
            report(.wrongType, "\(name(of: path)) must be an object, not \(value.kind)", at: path)
            return nil
        }
        for name in object.names where !allowed.contains(name) && !name.hasPrefix("$") && hasRoom() {
            reportUnknown(name, allowed: allowed, at: path)
        }
        return object
    }

    /// Reports an unknown member, and suggests the one that was probably meant.
    ///
    /// - Parameter remedy: What to do if there is nothing to suggest.
    package mutating func reportUnknown(
        _ name: String,
        allowed: [String],
        otherwise remedy: String? = nil,
        at path: JSONPath
    ) {
        report(
            .unknownKey,
            "unknown key \"\(name.excerpt)\"",
            fix: nestedForm(of: name, among: allowed) ?? suggestion(for: name, among: allowed) ?? remedy,
            at: path.appending(name),
            .name
        )
    }

    /// How to write a name such as `allow.hosts`, as texts and messages call a member of a member; nil for another name.
    private func nestedForm(of name: String, among allowed: [String]) -> String? {
        let parts = name.split(separator: ".", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard (2...4).contains(parts.count), !parts.contains(""), allowed.contains(parts[0]),
            objectNames.contains(parts[0])
        else { return nil }
        let inner = parts.dropFirst().reversed().reduce("…") { form, part in "{\"\(part.excerpt)\": \(form)}" }
        return "write \"\(parts[0])\": \(inner)"
    }

    /// Reads a required or optional string.
    package mutating func string(
        _ name: String,
        in object: JSONObject,
        at path: JSONPath,
        required isRequired: Bool = false
    ) -> String? {
        value(name, in: object, at: path, required: isRequired, kind: "a string") { $0.string }
    }

    /// Reads an optional string of a certain form; reports one that does not have it.
    ///
    /// - Parameter kind: The form, for messages.
    package mutating func string<Value>(
        _ name: String,
        in object: JSONObject,
        at path: JSONPath,
        kind: String,
        _ convert: (String) -> Value?
    ) -> Value? {
        guard let text = value(name, in: object, at: path, kind: kind, { $0.string }) else { return nil }
        guard let converted = convert(text) else {
            let here = path.appending(name)
            report(.invalidValue, "\(self.name(of: here)) is \"\(text.excerpt)\"; it must be \(kind)", at: here)
            return nil
        }
        return converted
    }

    /// Reads an optional boolean.
    package mutating func bool(_ name: String, in object: JSONObject, at path: JSONPath) -> Bool? {
        value(name, in: object, at: path, kind: "true or false") { $0.bool }
    }

    /// Reads a required or optional integer within bounds.
    package mutating func integer(
        _ name: String,
        in object: JSONObject,
        at path: JSONPath,
        required isRequired: Bool = false,
        within range: ClosedRange<Int64>
    ) -> Int64? {
        if let number = object[name], number.exceedsIntegers {
            let here = path.appending(name)
            report(.invalidValue, "\(self.name(of: here)) is \(number), outside \(range.text)", at: here)
            return nil
        }
        guard
            let value = value(name, in: object, at: path, required: isRequired, kind: "an integer", { $0.integer }),
            check(value, within: range, at: path.appending(name))
        else { return nil }
        return value
    }

    /// Reads an optional number within bounds.
    package mutating func number(
        _ name: String,
        in object: JSONObject,
        at path: JSONPath,
        within range: ClosedRange<Double>
    ) -> Double? {
        guard let value = value(name, in: object, at: path, kind: "a number", { $0.number }),
            check(value, within: range, at: path.appending(name))
        else { return nil }
        return value
    }

    /// Reports a number outside a range.
    ///
    /// - Returns: Whether the number is within it.
    @discardableResult
    package mutating func check<Number: Comparable>(
        _ number: Number,
        within range: ClosedRange<Number>,
        at path: JSONPath
    ) -> Bool {
        if range.contains(number) { return true }
        report(.invalidValue, "\(name(of: path)) is \(number), outside \(range.text)", at: path)
        return false
    }

    /// Reads an optional array of strings; empty if absent.
    package mutating func strings(_ name: String, in object: JSONObject, at path: JSONPath) -> [String] {
        let here = path.appending(name)
        let elements = value(name, in: object, at: path, kind: "an array of strings") { $0.array } ?? []
        var strings: [String] = []
        for (index, element) in elements.enumerated() {
            guard let string = element.string else {
                guard hasRoom() else { continue }
                report(
                    .wrongType,
                    "\(self.name(of: here.appending(index))) must be a string, not \(element.kind)",
                    at: here.appending(index)
                )
                continue
            }
            strings.append(string)
        }
        return strings
    }

    /// Reads an optional object; nil if absent.
    package mutating func object(_ name: String, in object: JSONObject, at path: JSONPath) -> JSONObject? {
        value(name, in: object, at: path, kind: "an object") { $0.object }
    }

    /// Reads a member of any type; reports a wrong type, or a required member that is absent.
    package mutating func value<Value>(
        _ name: String,
        in object: JSONObject,
        at path: JSONPath,
        required isRequired: Bool = false,
        kind: String,
        _ convert: (JSONValue) -> Value?
    ) -> Value? {
        guard let found = object[name] else {
            if isRequired {
                report(.missingValue, "\(self.name(of: path.appending(name))) is missing; it must be \(kind)", at: path)
            }
            return nil
        }
        guard let value = convert(found) else {
            report(
                .wrongType,
                "\(self.name(of: path.appending(name))) must be \(kind), not \(found.kind)",
                at: path.appending(name)
            )
            return nil
        }
        return value
    }
}

extension ClosedRange {
    /// The bounds, for messages. A whole one has no fraction, whatever the type.
    fileprivate var text: String {
        [lowerBound, upperBound].map { bound in
            let text = "\(bound)"
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
        .joined(separator: " to ")
    }
}
