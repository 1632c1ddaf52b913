// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHTTPServer

/// One operation of the API, in a single definition that validates requests, responds to them, and describes the operation.
package struct ControlEndpoint: Sendable {
    /// The name of the operation in the description.
    package var operation: String
    /// The method; GET also supports HEAD.
    package var method: Method = .get
    /// The path, without a query; a segment in braces is a field of ``segments``.
    package var path: String
    /// The purpose, in one sentence.
    package var summary: String
    /// The fields for the segments in braces.
    package var segments: [ControlField] = []
    /// The parameters of the query; others are ignored.
    package var query: [ControlField] = []
    /// The members of the object in the body; other members are refused. Nil if the endpoint takes no body.
    package var body: [ControlField]?
    /// The members of the body of which exactly one is required; empty for none.
    package var choice: [String] = []
    /// The possible responses, other than errors.
    package var answers: [Answer]
    /// Responds to a valid request.
    package var respond: @Sendable (ControlInput) async throws(ConnectorError) -> ServerResponse

    /// An HTTP method.
    package enum Method: String, Sendable, Hashable {
        case get = "GET"
        case post = "POST"
    }

    /// The description of a response.
    package struct Answer: Sendable {
        /// The HTTP status.
        package var status: Int
        /// What the response contains, or when it is sent.
        package var meaning: String
        /// The media types of the body, default first.
        package var contentTypes: [String]
        /// The JSON Schema of the body; in a stream, of each document.
        package var schema: JSONValue
    }

    /// The permission that a client must have.
    package var permission: Permission { method == .get && !isForActing ? .read : .act }

    /// Whether merely seeing the response requires the permission to act.
    private(set) var isForActing = false

    /// The same endpoint, restricted to clients with the permission to act.
    func forActing() -> Self {
        var endpoint = self
        endpoint.isForActing = true
        return endpoint
    }

    /// The values of the segments in braces; nil if the path does not match.
    ///
    /// - Throws: `invalid` for a segment that is not percent-encoded UTF-8.
    func match(_ path: some StringProtocol) throws(ConnectorError) -> JSONObject? {
        guard !segments.isEmpty else { return path == self.path ? [:] : nil }
        let (expected, actual) = (
            self.path.split(ascii: "/", omittingEmptySubsequences: false),
            String(path).split(ascii: "/", omittingEmptySubsequences: false)
        )
        guard expected.count == actual.count else { return nil }
        var values = JSONObject()
        for (expected, actual) in zip(expected, actual) {
            guard expected.hasPrefix("{") else {
                if expected != actual { return nil }
                continue
            }
            guard !actual.isEmpty else { return nil }
            let name = String(expected.dropFirst().dropLast())
            guard let text = PercentCoding.text(actual) else {
                throw ConnectorError(.invalid, "the \(name) in the path is not percent-encoded UTF-8")
            }
            values[name] = .string(text)
        }
        return values
    }
}
