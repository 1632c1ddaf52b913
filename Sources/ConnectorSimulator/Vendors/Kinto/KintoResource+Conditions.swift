// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

extension KintoResource {
    /// When an object last changed, in milliseconds since 1970.
    static func timestamp(of object: KintoStore.Stored) -> Int64 {
        object.data["last_modified"]?.integer ?? 0
    }

    /// The 304 answer to a conditional read; `nil` if the full answer must be sent. Throws 412 if another condition fails.
    func conditional(_ timestamp: Int64, existing: JSONObject?) throws(KintoFailure) -> HTTPResponse? {
        if let known = try condition("If-None-Match"), known == .timestamp(timestamp) {
            var response = answer([:], timestamp)
            response.status = 304
            response.body = []
            return response
        }
        try checkExisting(timestamp, existing)
        return nil
    }

    /// Throws if a precondition fails of a list or an object that exists, even of a read: `If-None-Match: *` does.
    func checkExisting(_ timestamp: Int64, _ existing: JSONObject?) throws(KintoFailure) {
        var isMet = try condition("If-None-Match") != .any
        if let wanted = try condition("If-Match"), wanted != .any, wanted != .timestamp(timestamp) { isMet = false }
        if !isMet { throw .modified(timestamp: timestamp, existing: existing) }
    }

    /// Throws if the precondition of a change of one object fails.
    ///
    /// - Parameter object: The object to change; `nil` if it does not exist, in which case the list's timestamp is
    ///   compared.
    mutating func checkUnmodified(_ object: KintoStore.Stored?) throws(KintoFailure) {
        let mayNotExist = try condition("If-None-Match") == .any
        if mayNotExist, let object { throw .modified(timestamp: Self.timestamp(of: object), existing: object.data) }
        guard let wanted = try condition("If-Match"), wanted != .any || object == nil else { return }
        let current = object.map(Self.timestamp) ?? store.timestamp(of: path.list, now: request.receivedAt)
        if wanted != .timestamp(current) { throw .modified(timestamp: current, existing: object?.data) }
    }

    /// The value of a conditional header.
    private enum Condition: Equatable {
        case any
        case timestamp(Int64)
    }

    /// Reads `*` or a timestamp in double quotes.
    private func condition(_ name: String) throws(KintoFailure) -> Condition? {
        guard let text = request.fields[name] else { return nil }
        if text == "*" || text == "\"*\"" { return .any }
        guard text.count > 2, text.hasPrefix("\""), text.hasSuffix("\""),
            let timestamp = Int64(text.dropFirst().dropLast())
        else {
            let message = "The value should be integer between double quotes."
            throw .invalid("\(name) in header: \(message)", location: "header", name: name, description: message)
        }
        return .timestamp(timestamp)
    }

    /// The answer with an object, its permissions and its version.
    func answer(_ object: KintoStore.Stored) -> HTTPResponse {
        let body: JSONObject = ["permissions": .object(object.permissions), "data": .object(object.data)]
        return answer(.object(body), Self.timestamp(of: object))
    }

    /// The answer with a document and its version.
    func answer(_ document: JSONValue, _ timestamp: Int64) -> HTTPResponse {
        HTTPResponse(
            headers: [
                "ETag": "\"\(timestamp)\"",
                "Last-Modified": Timestamp(milliseconds: timestamp).httpDate,
                "Access-Control-Expose-Headers":
                    "ETag, Last-Modified, Next-Page, Total-Objects, Backoff, Alert, Retry-After",
            ],
            json: document
        )
    }
}
