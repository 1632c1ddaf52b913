// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer

/// A vendor that sends recorded answers, and 404 to every request without one.
package struct RecordedVendor: Vendor {
    package static let name = "recorded"
    package static let demoCredentials: [String: String] = [:]
    package static let secretKeys: [String] = []

    private let answers: RecordedAnswers

    /// Creates a vendor without answers.
    package init(credentials: AcceptedCredentials) {
        self.init(RecordedAnswers())
    }

    /// Creates a vendor with recorded answers.
    init(_ answers: RecordedAnswers) {
        self.answers = answers
    }

    package func respond(to request: SimulatedRequest) -> HTTPResponse {
        answers.answer(to: request)
            ?? failure(status: 404, message: "no answer is recorded for \(request.method) \(request.path.excerpt)")
    }

    package func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        HTTPResponse(status: status ?? 500, json: ["error": .string(message ?? code ?? "failed")])
    }
}
