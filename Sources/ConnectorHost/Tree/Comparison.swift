// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorServices
internal import Synchronization

/// Collects the differences between the children of one `compare` or `shadow` composite.
final class Comparison: Sendable {
    private let state = Mutex(Differences())
    private let outstanding = Atomic<Int>(0)
    /// The maximum number of calls compared at once, so that a child that does not answer cannot accumulate them.
    private static let limit = 1024
    private let onChange: @Sendable () -> Void

    /// Creates a comparison without results.
    ///
    /// - Parameter onChange: Called after every comparison.
    init(onChange: @escaping @Sendable () -> Void = {}) {
        self.onChange = onChange
    }

    /// The differences so far.
    var differences: Differences { state.withLock(\.self) }

    /// Counts a call whose answer will be compared as outstanding, until ``note(_:expected:got:from:)``.
    ///
    /// - Returns: False if too many are outstanding; the call then counts as skipped.
    func begin() -> Bool {
        guard outstanding.add(1, ordering: .relaxed).newValue > Self.limit else { return true }
        outstanding.subtract(1, ordering: .relaxed)
        state.withLock { $0.skipped += 1 }
        return false
    }

    /// Compares an answer with the first child's: JSON by value, failures by code.
    func note(_ operation: String, expected: ConnectorAnswer.Outcome, got: ConnectorAnswer.Outcome, from path: String) {
        outstanding.subtract(1, ordering: .relaxed)
        let (expectation, answer) = (Self.text(expected), Self.text(got))
        state.withLock { state in
            state.compared += 1
            guard !expectation.isEquivalent(to: answer) else { return }
            state.different += 1
            state.last = "\(operation): \(path) answered \(answer.brief), not \(expectation.brief)"
        }
        onChange()
    }

    /// The part of an answer that must be equal.
    private enum ComparedAnswer {
        case json(JSONValue, Redactor)
        case failure(ConnectorError.Code)

        func isEquivalent(to other: ComparedAnswer) -> Bool {
            switch (self, other) {
            case (.json(let value, _), .json(let other, _)): value.isEquivalent(to: other)
            case (.failure(let code), .failure(let other)): code == other
            default: false
            }
        }

        var brief: String {
            switch self {
            case .json(let value, let redactor): redactor.redact(value.serialized(), limit: 200)
            case .failure(let code): "the error \(code)"
            }
        }
    }

    private static func text(_ outcome: ConnectorAnswer.Outcome) -> ComparedAnswer {
        do throws(ConnectorError) {
            let answer = try outcome.get()
            return .json(try answer.json(), answer.redactor)
        } catch {
            return .failure(error.code)
        }
    }
}

extension JSONValue {
    /// Whether two values are equivalent: numbers by value, objects in any order.
    fileprivate func isEquivalent(to other: JSONValue) -> Bool {
        switch (self, other) {
        case (.array(let elements), .array(let others)):
            return elements.count == others.count && zip(elements, others).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let object), .object(let other)):
            guard object.members.count == other.members.count else { return false }
            let others = Dictionary(other.members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            return object.members.allSatisfy { member in
                others[member.name].map(member.value.isEquivalent(to:)) ?? false
            }
        case (.integer, .number), (.number, .integer): return number == other.number
        default: return self == other
        }
    }
}
