// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The reason that a request has no response.
package struct RequestFailure: Sendable, Hashable {
    /// The kind of failure; a code that has a status in the ABI.
    package var code: ConnectorError.Code
    /// One sentence for a person, without secrets.
    package var message: String
    /// Whether the same request may succeed later.
    package var isRetryable: Bool

    /// The most bytes of a message in a file of answers. A header field carries it, in which a byte takes up to eight.
    package static let messageLimit = 8 << 10

    /// Describes a failure.
    package init(_ code: ConnectorError.Code, _ message: String, isRetryable: Bool) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
    }

    /// The failure of a request that a recording does not contain.
    ///
    /// - Parameter reason: The request, and the nearest recorded one.
    package static func unanswered(_ reason: String) -> RequestFailure {
        RequestFailure(.failed, reason, isRetryable: false)
    }

    /// The JSON form in a file of answers.
    package var json: JSONValue {
        ["code": .string(code.rawValue), "message": .string(message), "retryable": .bool(isRetryable)]
    }

    /// Reads the JSON form; nil for any other.
    package init?(json: JSONValue) {
        guard let code = json["code"]?.string, let message = json["message"]?.string,
            let isRetryable = json["retryable"]?.bool
        else { return nil }
        self.init(ConnectorError.Code(rawValue: code), message, isRetryable: isRetryable)
    }
}

extension HTTPResponse {
    /// The header field that marks a response as a stand-in for a failure.
    private static let failureField = "Connector-Host-Failure"
    /// The header field that marks a response as one that ends with a failure.
    private static let breakField = "Connector-Host-Break"

    /// Creates the response with which a simulator makes a request fail in the host, so that the plugin sees no HTTP
    /// status.
    package init(failing failure: RequestFailure) {
        let body: JSONValue = ["error": .string(failure.message)]
        self.init(
            status: 501,
            headers: [
                "Content-Type": "application/json",
                Self.failureField: PercentCoding.encode(failure.json.serialized()),
            ],
            body: body.utf8()
        )
    }

    /// Makes the request fail in the host once the response has come. A plugin that asks for it whole gets only the failure.
    package mutating func breakOff(with failure: RequestFailure) {
        headers[Self.breakField] = PercentCoding.encode(failure.json.serialized())
    }

    /// The response that a plugin gets in parts before the ``failure``; nil if it gets nothing before.
    package var beginning: HTTPResponse? {
        guard headers[Self.breakField] != nil else { return nil }
        var beginning = self
        beginning.headers.remove(Self.breakField)
        return beginning
    }

    /// The failure that a simulator's response stands for, or ends with; nil for every other response.
    package var failure: RequestFailure? {
        (headers[Self.failureField] ?? headers[Self.breakField])
            .flatMap { try? JSONValue(parsing: Array(PercentCoding.decode($0).utf8)) }
            .flatMap(RequestFailure.init(json:))
    }
}
