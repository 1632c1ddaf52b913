// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// A vendor that sends recorded answers. A request that none matches gets 404 or, if they are exact, an answer that makes it fail
/// in the host.
final class RecordedVendor: Vendor {
    static let name = "recorded"
    static let demoCredentials: [String: String] = [:]
    static let secretKeys: [String] = []

    private let answers: RecordedAnswers
    private let redaction: Redaction
    /// How often each answer was given.
    private let counts: Mutex<[Int]>

    /// Creates a vendor without answers.
    convenience init(credentials: AcceptedCredentials) {
        self.init(RecordedAnswers())
    }

    /// Creates a vendor with recorded answers.
    ///
    /// - Parameter redaction: Removes the credentials from a request that is quoted to the plugin which sent it: the host has inserted
    ///   them, and the plugin must not see them.
    init(_ answers: RecordedAnswers, hiding redaction: Redaction = Redaction(secrets: [])) {
        self.answers = answers
        self.redaction = redaction
        counts = Mutex(Array(repeating: 0, count: answers.answers.count))
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse { exchange(for: request).response }

    func exchange(for request: SimulatedRequest) -> SimulatedExchange {
        if let exchange = recorded(for: request) { return exchange }
        let reason = answers.refusal(of: AnsweredRequest(redaction.redact(request)))
        return SimulatedExchange(
            response: answers.isExact
                ? HTTPResponse(failing: .unanswered(reason)) : failure(status: 404, code: nil, message: reason)
        )
    }

    /// Uses the first answer that matches a request and is not used up; nil if there is none.
    func recorded(for request: SimulatedRequest) -> SimulatedExchange? {
        next(for: request).map { SimulatedExchange(response: $0.response, delay: $0.delay) }
    }

    /// Counts and returns the next answer to a request; nil if none is left.
    private func next(for request: SimulatedRequest) -> RecordedAnswer? {
        let asked = AnsweredRequest(request)
        let matching = answers.answers.indices.filter { answers.answers[$0].matches(asked, isExact: answers.isExact) }
        return counts.withLock { counts in
            guard let index = matching.first(where: { counts[$0] < answers.answers[$0].times ?? .max }) else {
                return nil
            }
            counts[index] += 1
            return answers.answers[index]
        }
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        HTTPResponse(status: status ?? 500, json: ["error": .string(message ?? code ?? "failed")])
    }
}
