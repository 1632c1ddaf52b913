// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The answer to `GET /_received`.
struct ReceivedDocument {
    /// The requests, newest last.
    var requests: [RecordedRequest]
    /// The number of earlier requests that were dropped.
    var dropped: Int

    /// `{"version":1,"dropped":…,"requests":[…]}`; a body that is not text appears under `bodyBase64`.
    var json: JSONValue {
        [
            "version": 1,
            "dropped": .integer(Int64(dropped)),
            "requests": .array(requests.map(Self.json(of:))),
        ]
    }

    /// One request.
    private static func json(of request: RecordedRequest) -> JSONValue {
        var headers = JSONObject()
        for field in request.headers {
            let name = field.name.lowercased()
            if case .string(let earlier)? = headers[name] {
                headers[name] = .string("\(earlier), \(field.value)")
            } else {
                headers[name] = .string(field.value)
            }
        }
        var object: JSONObject = [
            "vendor": .string(request.vendor),
            "method": .string(request.method),
            "path": .string(request.path),
            "headers": .object(headers),
        ]
        if let text = String(validating: request.body, as: UTF8.self) {
            object["body"] = .string(text)
        } else {
            object["bodyBase64"] = .string(Base64.encode(request.body))
        }
        object["status"] = .integer(Int64(request.status))
        object["at"] = .string(request.at.description)
        return .object(object)
    }
}
