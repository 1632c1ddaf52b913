// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The outcome of an act: a sentence for the operator, and where to go next.
///
/// A string literal makes the outcome of an act that succeeded, with that sentence.
public struct ActOutcome: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The sentence for the operator, on success and on failure.
    public var sentence: String
    /// The route to open next; nil to stay.
    public var route: Route?
    /// Whether it failed.
    public var isFailure = false
    /// The messages for invalid fields of a form, by name.
    public var fieldErrors: [String: String] = [:]
    /// The code of the error; nil unless it failed with one.
    public var code: ConnectorError.Code?

    /// Creates the outcome of an act that succeeded.
    ///
    /// - Parameter route: The route to open next; nil to stay.
    public init(_ sentence: String, opening route: Route? = nil) {
        self.sentence = sentence
        self.route = route
    }

    /// Creates the outcome of an act that succeeded.
    public init(stringLiteral sentence: String) { self.init(sentence) }

    /// The outcome of an act that was refused because of what happens now.
    static func refusal(_ sentence: String) -> ActOutcome {
        var outcome = ActOutcome(sentence)
        (outcome.isFailure, outcome.code) = (true, .conflict)
        return outcome
    }

    /// The outcome of an act that failed.
    ///
    /// - Parameter error: A `FormFault` marks the fields that it names.
    public static func failure(of act: ConsoleAct, _ error: any Error) -> ActOutcome {
        var outcome: ActOutcome
        switch error {
        case let fault as FormFault:
            outcome = ActOutcome("\(act.title) failed: \(fault.errors.values.sorted().joined(separator: "; "))")
            outcome.fieldErrors = fault.errors
        case let error as ConnectorError:
            outcome = ActOutcome("\(act.title) failed: \(error.message) [\(error.code.rawValue)]")
            outcome.code = error.code
        case is CancellationError: outcome = ActOutcome("\(act.title) failed: it was cancelled")
        default: outcome = ActOutcome("\(act.title) failed: \(error)")
        }
        outcome.isFailure = true
        return outcome
    }
}

extension ActOutcome: CustomStringConvertible {
    /// The sentence in one line, and where to go next, such as `stored order-7, see /outbox; next: /outbox`.
    public var description: String {
        (sentence + (route.map { "; next: \($0)" } ?? "")).displayed(isUnicode: true)
    }
}
