// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension HTTPResponse {
    /// The field that marks the response of a recording to a request that it does not have.
    private static let unansweredField = "Connector-Host-Unanswered"

    /// The response of a recording to a request that it does not have; the host fails such a request instead of passing on a status.
    ///
    /// - Parameter reason: What was asked, and what comes nearest.
    package init(unanswered reason: String) {
        let body: JSONValue = ["error": .string(reason)]
        self.init(
            status: 501,
            headers: ["Content-Type": "application/json", Self.unansweredField: PercentCoding.encode(reason)],
            body: body.utf8()
        )
    }

    /// The reason in the response of a recording that has no answer; nil for every other response.
    package var unanswered: String? { headers[Self.unansweredField].map { PercentCoding.decode($0) } }
}
