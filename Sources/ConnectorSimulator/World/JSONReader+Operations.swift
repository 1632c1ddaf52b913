// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads the answers of operations.
extension JSONReader {
    /// Reads `operations`; empty if absent.
    mutating func operations(in object: JSONObject, at root: JSONPath) -> [OperationAnswer] {
        let elements = value("operations", in: object, at: root, kind: "an array") { $0.array } ?? []
        return elements.enumerated().compactMap { operation($1, at: root.appending("operations").appending($0)) }
    }

    private mutating func operation(_ value: JSONValue, at place: JSONPath) -> OperationAnswer? {
        let allowed = ["operation", "when", "times", "delay", "read", "remove", "list", "keep", "result", "error"]
        guard let object = members(of: value, at: place, allowed: allowed) else { return nil }
        let name = string("operation", in: object, at: place, required: true)
        if object["result"] != nil, object["error"] != nil {
            report(
                .invalidValue,
                "an answer has \"result\" or \"error\", never both",
                at: place.appending("error"),
                .name
            )
        }
        let failure = failure(in: object, at: place)
        let result = template("result", in: object, at: place) ?? .value(.null)
        return OperationAnswer(
            operation: name ?? "",
            arguments: self.object("when", in: object, at: place).map(JSONValue.object),
            times: integer("times", in: object, at: place, within: 1...1_000_000).map { Int($0) },
            delay: delay("delay", in: object, at: place),
            read: self.place("read", in: object, at: place),
            remove: self.place("remove", in: object, at: place),
            list: template("list", in: object, at: place),
            keep: kept(in: object, at: place),
            outcome: failure.map { .failure($0) } ?? .result(result)
        )
    }

    /// Reads `{"in": COLLECTION, "key": KEY}`.
    mutating func place(_ name: String, in object: JSONObject, at place: JSONPath) -> OperationAnswer.Place? {
        guard let value = object[name] else { return nil }
        return self.place(value, at: place.appending(name), allowed: ["in", "key"])
    }

    private mutating func place(_ value: JSONValue, at here: JSONPath, allowed: [String]) -> OperationAnswer.Place? {
        guard let members = members(of: value, at: here, allowed: allowed) else { return nil }
        for name in ["in", "key"] where members[name] == nil {
            report(.missingValue, "\(self.name(of: here.appending(name))) is missing", at: here)
        }
        guard let collection = template("in", in: members, at: here), let key = template("key", in: members, at: here)
        else { return nil }
        return OperationAnswer.Place(collection: collection, key: key)
    }

    /// Reads `keep`: `{"in": COLLECTION, "key": KEY, "value": JSON}`.
    mutating func kept(in object: JSONObject, at place: JSONPath) -> OperationAnswer.Kept? {
        guard let value = object["keep"] else { return nil }
        let here = place.appending("keep")
        guard let kept = self.place(value, at: here, allowed: ["in", "key", "value"]), let members = value.object else {
            return nil
        }
        return OperationAnswer.Kept(place: kept, value: template("value", in: members, at: here) ?? .value(.null))
    }

    /// Reads JSON whose texts may refer to values of a call.
    mutating func template(_ name: String, in object: JSONObject, at place: JSONPath) -> JSONTemplate? {
        guard let value = object[name] else { return nil }
        do throws(Template.ParseError) {
            return try JSONTemplate(value)
        } catch {
            let names = JSONTemplate.names.map { "${\($0)}" }.joined(separator: ", ")
            report(
                .invalidValue,
                error.message,
                fix: "there are \(names), and their members, such as ${args.id}",
                at: place.appending(name)
            )
            return nil
        }
    }

    /// Reads `error`: `{"code": CODE, "message": TEXT, "retryable": BOOLEAN, "retryAfter": DURATION}`.
    mutating func failure(in object: JSONObject, at place: JSONPath) -> ConnectorError? {
        guard let value = object["error"] else { return nil }
        let here = place.appending("error")
        let allowed = ["code", "message", "retryable", "retryAfter"]
        guard let members = members(of: value, at: here, allowed: allowed) else { return nil }
        let text = string("code", in: members, at: here, required: true) ?? ""
        let code = ConnectorError.Code(rawValue: text)
        // A plugin that reports a cancelled call has given up on its own.
        let codes = (1...14).compactMap { ConnectorError.Code(abiStatus: $0) }.filter { $0 != .cancelled }
        let known = codes.map(\.rawValue)
        if members["code"]?.string != nil, !known.contains(text) {
            report(
                .invalidValue,
                "a plugin cannot fail with the code \"\(text.excerpt)\"",
                fix: suggestion(for: text, among: known) ?? "use one of: \(known.joined(separator: ", "))",
                at: here.appending("code")
            )
        }
        let wait = delay("retryAfter", in: members, at: here)
        return ConnectorError(
            code,
            string("message", in: members, at: here) ?? "simulated",
            isRetryable: bool("retryable", in: members, at: here)
                ?? [.unavailable, .rateLimited, .timedOut].contains(code),
            retryAfter: wait > .zero ? wait : nil
        )
    }
}
