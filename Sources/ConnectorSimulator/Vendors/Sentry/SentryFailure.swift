// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An error of Sentry.
enum SentryFailure: Error {
    /// The credentials are missing, malformed or ambiguous.
    case unauthenticated(String)
    /// An invalid request.
    case badRequest(String)
    /// The envelope cannot be read.
    case invalidEnvelope(String)
    /// The key or the project is unknown.
    case rejected
    /// An item or the request is too large.
    case tooLarge(String)

    /// The status, and the texts of `detail` and `causes`.
    var answer: (status: Int, detail: String, causes: [String]) {
        switch self {
        case .unauthenticated(let detail): (401, detail, [])
        case .badRequest(let detail): (400, detail, [])
        case .invalidEnvelope(let cause): (400, "invalid event envelope", [cause])
        case .rejected: (403, "event submission rejected with_reason: ProjectId", [])
        case .tooLarge(let detail): (413, detail, [])
        }
    }
}
