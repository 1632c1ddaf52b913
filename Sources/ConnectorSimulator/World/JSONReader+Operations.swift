// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads the answers of operations.
extension JSONReader {
    /// The values that templates may refer to in every answer of an operation.
    private static let call = ["args", "count", "time"]

    /// Reads `operations`; nil if absent.
    mutating func operations(in object: JSONObject, at place: JSONPath) -> [OperationAnswer]? {
        let elements = value("operations", in: object, at: place, kind: "an array") { $0.array }
        return elements?.enumerated().compactMap { operation($1, at: place.appending("operations").appending($0)) }
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
        let found = Self.call + (object["read"] == nil && object["remove"] == nil ? [] : ["record"])
        let all = found + (object["keep"] == nil || found.contains("record") ? [] : ["record"])
        let scope = all + (object["list"] == nil ? [] : ["records"])
        let failure = failure(in: object, at: place, scope)
        let result = template("result", in: object, at: place, scope) ?? .value(.null)
        return OperationAnswer(
            operation: name ?? "",
            arguments: self.object("when", in: object, at: place).map(JSONValue.object),
            times: integer("times", in: object, at: place, within: 1...1_000_000).map { Int($0) },
            delay: delay("delay", in: object, at: place),
            read: record("read", in: object, at: place, Self.call),
            remove: record("remove", in: object, at: place, object["read"] == nil ? Self.call : found),
            list: template("list", in: object, at: place, found),
            keep: kept(in: object, at: place, found),
            outcome: failure.map { .failure($0) } ?? .result(result)
        )
    }

    /// Reads `{"in": COLLECTION, "key": KEY}`.
    mutating func record(
        _ name: String,
        in object: JSONObject,
        at place: JSONPath,
        _ scope: [String]
    ) -> OperationAnswer.RecordReference? {
        guard let value = object[name] else { return nil }
        return record(value, at: place.appending(name), allowed: ["in", "key"], scope)
    }

    private mutating func record(
        _ value: JSONValue,
        at here: JSONPath,
        allowed: [String],
        _ scope: [String]
    ) -> OperationAnswer.RecordReference? {
        guard let members = members(of: value, at: here, allowed: allowed) else { return nil }
        for name in allowed where members[name] == nil {
            report(.missingValue, "\(self.name(of: here.appending(name))) is missing", at: here)
        }
        let collection = template("in", in: members, at: here, scope)
        let key = template("key", in: members, at: here, scope)
        guard let collection, let key else { return nil }
        return OperationAnswer.RecordReference(collection: collection, key: key)
    }

    /// Reads `keep`: `{"in": COLLECTION, "key": KEY, "value": JSON}`.
    mutating func kept(in object: JSONObject, at place: JSONPath, _ scope: [String]) -> OperationAnswer.Kept? {
        guard let value = object["keep"] else { return nil }
        let here = place.appending("keep")
        let reference = record(value, at: here, allowed: ["in", "key", "value"], scope)
        let content = value.object.flatMap { template("value", in: $0, at: here, scope) }
        guard let reference, let content else { return nil }
        return OperationAnswer.Kept(record: reference, value: content)
    }

    /// Reads `error`: `{"code": CODE, "message": TEXT, "retryable": BOOLEAN, "retryAfter": DURATION}`.
    mutating func failure(in object: JSONObject, at place: JSONPath, _ scope: [String]) -> SimulatedFailure? {
        guard let value = object["error"] else { return nil }
        let here = place.appending("error")
        let allowed = ["code", "message", "retryable", "retryAfter"]
        guard let members = members(of: value, at: here, allowed: allowed) else { return nil }
        let (code, isRetryable) = failureKind(in: members, at: here)
        let message = string("message", in: members, at: here).map(JSONValue.string) ?? "simulated"
        let wait = delay("retryAfter", in: members, at: here)
        return SimulatedFailure(
            error: ConnectorError(
                code,
                "",
                isRetryable: isRetryable,
                retryAfter: wait > .zero ? wait : nil
            ),
            message: template(message, at: here.appending("message"), scope)
        )
    }

    /// Reads the code of an error, and whether a retry may succeed; the code decides if the file does not say.
    mutating func failureKind(in members: JSONObject, at place: JSONPath) -> (ConnectorError.Code, isRetryable: Bool) {
        let text = string("code", in: members, at: place, required: true) ?? ""
        let code = ConnectorError.Code(rawValue: text)
        let known = SimulatedFailure.codes.map(\.rawValue)
        if members["code"]?.string != nil, !known.contains(text) {
            report(
                .invalidValue,
                "a plugin cannot fail with the code \"\(text.excerpt)\"",
                fix: suggestion(for: text, among: known) ?? "use one of: \(known.joined(separator: ", "))",
                at: place.appending("code")
            )
        }
        let isUsual = [.unavailable, .rateLimited, .timedOut].contains(code)
        return (code, bool("retryable", in: members, at: place) ?? isUsual)
    }
}

extension SimulatedFailure {
    /// The codes with which a plugin can fail. `cancelled` is not one: a plugin that reports it has given up on its own.
    static var codes: [ConnectorError.Code] {
        (1...14).compactMap { ConnectorError.Code(abiStatus: $0) }.filter { $0 != .cancelled }
    }
}
