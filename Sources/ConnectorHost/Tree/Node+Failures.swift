// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The errors of a composite whose children failed.
extension Node {
    /// The error of a call that failed at every child.
    ///
    /// - Parameters:
    ///   - children: The children called; all failed.
    ///   - what: The message.
    func failure(of children: [ConnectorAnswer.Child], _ what: String) -> ConnectorError {
        let errors = errors(of: children)
        let codes = Set(errors.map(\.code))
        var error = ConnectorError(
            codes.count == 1 ? codes.first ?? .failed : .failed,
            what,
            connector: path,
            cause: errors.map(\.description).joined(separator: "; "),
            isRetryable: errors.contains(where: \.isRetryable) && !errors.contains(where: \.mayHaveTakenEffect),
            retryAfter: errors.compactMap(\.retryAfter).min()
        )
        error.becomeCancellation(ifAnyOf: errors)
        error.outcomes = ConnectorAnswer.outcomes(of: children)
        return error
    }

    /// The error of a call in which too few children succeeded.
    ///
    /// - Parameter isRetryable: Whether enough children would succeed if those with retryable errors did.
    func partialFailure(of children: [ConnectorAnswer.Child], _ operation: String, isRetryable: Bool) -> ConnectorError
    {
        let errors = errors(of: children)
        let takers = children.filter { (try? $0.outcome.get()) != nil }.map(\.path)
        let others = children.filter { (try? $0.outcome.get()) == nil }.map(\.path)
        let needed = policy?.fewest ?? 1
        var error = ConnectorError(
            .partial,
            "\(list(takers)) took \"\(operation)\", \(list(others)) did not" + (needed > 1 ? "; \(needed) must" : ""),
            connector: path,
            cause: errors.map(\.description).joined(separator: "; "),
            isRetryable: isRetryable,
            retryAfter: isRetryable ? errors.filter(\.isRetryable).compactMap(\.retryAfter).max() : nil
        )
        error.becomeCancellation(ifAnyOf: errors)
        error.outcomes = ConnectorAnswer.outcomes(of: children)
        return error
    }

    private func errors(of children: [ConnectorAnswer.Child]) -> [ConnectorError] {
        children.compactMap { path, outcome in
            guard case .failure(var error) = outcome else { return nil }
            error.connector = error.connector ?? path
            return error
        }
    }

    /// `a`, `a and b`, `a, b and c`.
    private func list(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "no child" }
        return "\(names.dropLast().joined(separator: ", ")) and \(last)"
    }
}

extension ConnectorError {
    /// Makes this error of a composite a cancellation if a child's call was cancelled, since only the caller's own task does that.
    ///
    /// The other children's errors do not count: the caller, who is cancelled, must not try again.
    fileprivate mutating func becomeCancellation(ifAnyOf errors: [ConnectorError]) {
        guard errors.contains(where: \.isCancellation) else { return }
        (code, isRetryable, retryAfter) = (.cancelled, false, nil)
    }
}
