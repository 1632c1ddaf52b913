// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

extension RecordedAnswers {
    /// A message that no answer fits a request, which names the nearest answer and why it does not fit.
    func refusal(of request: AnsweredRequest) -> String {
        let asked = "no answer is recorded for \(request.request.sentMethod) \(request.path.excerpt)"
        let candidates = answers.enumerated().map { index, answer in
            Candidate(index, answer, answer.differences(from: request, isExact: isExact), request)
        }
        guard let nearest = candidates.min(by: { $0.distance < $1.distance }) else { return asked }
        return "\(asked); the nearest is answers[\(nearest.index)], \(nearest.name): \(nearest.reason)"
    }

    /// An answer that does not fit.
    private struct Candidate {
        let index: Int
        let name: String
        let reason: String
        /// How far the answer is from the request: first by the path, then the method, then other differences, then how far the bodies
        /// are the same, as the steps to the first place that differs, then file order.
        let distance: (path: Int, method: Int, others: Int, depth: Int, index: Int)

        init(_ index: Int, _ answer: RecordedAnswer, _ differences: [AnswerDifference], _ request: AnsweredRequest) {
            self.index = index
            name = "\(answer.method ?? "any method") \(answer.path.text.excerpt)"
            let hasPath = answer.path.matches(request.path)
            let hasMethod = answer.hasMethod(of: request)
            var reasons: [String] = []
            if !hasPath { reasons.append("the path differs") }
            if !hasMethod { reasons.append("the method is \(request.request.sentMethod), not \(answer.method ?? "")") }
            reasons += differences.prefix(3).map(\.description)
            if differences.count > 3 { reasons.append("and \(differences.count - 3) more") }
            if reasons.isEmpty { reasons.append("it was given as often as \"times\" says") }
            reason = reasons.joined(separator: "; ")
            let depth = differences.map(\.depth).max() ?? 0
            distance = (
                hasPath ? 0 : pathDistance(answer.path.text, request.path), hasMethod ? 0 : 1, differences.count,
                -depth, index
            )
        }
    }
}

/// The number of components that two paths share neither at the start nor at the end; at least 1.
private func pathDistance(_ first: String, _ second: String) -> Int {
    let (first, second) = (first.split(ascii: "/"), second.split(ascii: "/"))
    let shortest = min(first.count, second.count)
    let front = zip(first, second).prefix { $0 == $1 }.count
    let back = zip(first.reversed(), second.reversed()).prefix(shortest - front).prefix { $0 == $1 }.count
    return max(1, max(first.count, second.count) - front - back)
}
