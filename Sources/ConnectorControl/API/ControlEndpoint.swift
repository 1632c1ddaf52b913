// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// One operation of the API: the same definition serves it, checks what is asked, and describes it.
package struct ControlEndpoint: Sendable {
    /// The name of the operation in the description.
    package var operation: String
    /// The method; GET also answers HEAD.
    package var method: Method = .get
    /// The path, without a query; a segment in braces is a field of ``path(_:)``'s.
    package var path: String
    /// What it is for, in one sentence.
    package var summary: String
    /// What the segments in braces hold.
    package var segments: [ControlField] = []
    /// What the query may hold; other parameters are ignored.
    package var query: [ControlField] = []
    /// What the object in the body holds, and nothing else; nil if no body is read.
    package var body: [ControlField]?
    /// The members of the body of which exactly one must be there; none if there is no such choice.
    package var choice: [String] = []
    /// Every answer that it may give, besides errors.
    package var answers: [Answer]
    /// Answers a request that was checked.
    package var respond: @Sendable (ControlInput) async throws(ConnectorError) -> ControlResponse

    /// A method of HTTP.
    package enum Method: String, Sendable, Hashable {
        case get = "GET"
        case post = "POST"
    }

    /// An answer, as it is described.
    package struct Answer: Sendable {
        /// The HTTP status.
        package var status: Int
        /// When it is given.
        package var meaning: String
        /// The types of the body, the usual one first.
        package var contentTypes: [String]
        /// The JSON Schema of the body; of one document, in a stream.
        package var schema: JSONValue
    }

    /// What it takes to be allowed: reading is one right, and acting another.
    package var right: Right { method == .get ? .read : .act }

    /// The values of the segments of a path; nil if the path is another one.
    ///
    /// - Throws: `invalid` for a segment that is not encoded as UTF-8.
    func match(_ path: some StringProtocol) throws(ConnectorError) -> JSONObject? {
        guard !segments.isEmpty else { return path == self.path ? [:] : nil }
        let (wanted, given) = (
            self.path.split(separator: "/", omittingEmptySubsequences: false),
            path.split(separator: "/", omittingEmptySubsequences: false)
        )
        guard wanted.count == given.count else { return nil }
        var values = JSONObject()
        for (wanted, given) in zip(wanted, given) {
            guard wanted.hasPrefix("{") else {
                if wanted != given { return nil }
                continue
            }
            guard !given.isEmpty else { return nil }
            let name = String(wanted.dropFirst().dropLast())
            guard let text = PercentCoding.text(given) else {
                throw ConnectorError(.invalid, "the \(name) in the path is not UTF-8 in percent-encoding")
            }
            values[name] = .string(text)
        }
        return values
    }
}
