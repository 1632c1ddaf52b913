// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The outcome of one event or report in a batch.
public struct DeliveryAnswer: Sendable, Hashable {
    /// The kind of outcome.
    public var outcome: Outcome
    /// The reason for a refusal, in the vendor's own words where it gave any.
    public var reason: String?
    /// How long to wait before the next attempt, if the vendor said so. Zero is for an element that was not sent yet, to send it with the
    /// next delivery, and needs the code `timed-out`: with any other code, an answer made with zero has nil.
    public var retryAfter: Duration?
    /// The kind of failure; nil if accepted.
    public var code: ConnectorError.Code?
    /// The vendor's id for the accepted element.
    public var id: String?

    /// What the sender does next.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// Nothing: the vendor has accepted it.
        case accepted
        /// Drop it: the vendor will never accept it.
        case rejected
        /// Deliver it again later, with the same identifier.
        case retry
    }

    private init(
        _ outcome: Outcome,
        reason: String? = nil,
        retryAfter: Duration? = nil,
        code: ConnectorError.Code? = nil,
        id: String? = nil
    ) {
        self.outcome = outcome
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter == .zero && code != .timedOut ? nil : retryAfter
        self.id = id
    }

    /// The vendor has it.
    public static let accepted = DeliveryAnswer(.accepted)

    /// The vendor has accepted it, under its own id.
    public static func accepted(id: String) -> DeliveryAnswer { DeliveryAnswer(.accepted, id: id) }

    /// The vendor will never accept it.
    public static func rejected(_ reason: String, code: ConnectorError.Code = .invalid) -> DeliveryAnswer {
        DeliveryAnswer(.rejected, reason: reason, code: code)
    }

    /// The vendor may accept it later.
    public static func retry(
        _ reason: String,
        after: Duration? = nil,
        code: ConnectorError.Code = .unavailable
    ) -> DeliveryAnswer {
        DeliveryAnswer(.retry, reason: reason, retryAfter: after, code: code)
    }

    /// It was not sent, because the time was up, or an earlier one had failed: the next delivery sends it.
    package static func unsent(_ reason: String) -> DeliveryAnswer { .retry(reason, after: .zero, code: .timedOut) }

    /// Whether it was not sent.
    package var isUnsent: Bool { outcome == .retry && retryAfter == .zero }
}

extension DeliveryAnswer {
    /// Reads an answer: `{"outcome": "retry", "code": "rate-limited", "reason": "…", "retryAfter": 1.5}`, where
    /// `retryAfter` is in seconds.
    public init(json: JSONValue, path: String = "answer") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        guard let outcome = try reader.word("outcome", as: Outcome.self) else {
            throw ConnectorError(.invalid, "\(path).outcome is missing")
        }
        self.init(
            outcome,
            reason: try reader.string("reason"),
            retryAfter: try reader.number("retryAfter", within: 0...31_536_000).map { .seconds($0) },
            code: try reader.string("code").map(ConnectorError.Code.init(ofPlugin:)),
            id: try reader.string("id")
        )
    }

    /// The JSON form that an operation returns.
    public var json: JSONValue {
        var object: JSONObject = ["outcome": .string(outcome.rawValue)]
        object.set("code", code?.rawValue)
        object.set("reason", reason)
        if let retryAfter { object["retryAfter"] = .number(Double(retryAfter.nanoseconds) / 1e9) }
        object.set("id", id)
        return .object(object)
    }

    /// Reads the answers to a batch.
    ///
    /// - Parameters:
    ///   - json: An array of answers.
    ///   - count: The number of events or reports in the batch.
    /// - Throws: A ``ConnectorError`` of code `protocol` if the count differs or an answer cannot be read; neither is an event's fault.
    public static func answers(json: JSONValue, count: Int) throws(ConnectorError) -> [DeliveryAnswer] {
        guard let elements = json.array, elements.count == count else {
            throw ConnectorError(
                .protocolViolation,
                "there must be \(count) answers, one for each element of the batch"
            )
        }
        var answers: [DeliveryAnswer] = []
        for (index, element) in elements.enumerated() {
            do throws(ConnectorError) {
                answers.append(try DeliveryAnswer(json: element, path: "answers[\(index)]"))
            } catch {
                throw ConnectorError(.protocolViolation, error.message)
            }
        }
        return answers
    }

    /// Reads the answers to a batch from their text.
    ///
    /// - Throws: As ``answers(json:count:)`` does, and `syntax` for text that is not JSON.
    package static func answers(text: [UInt8], count: Int) throws(ConnectorError) -> [DeliveryAnswer] {
        // Fast path: nearly every batch is accepted whole, in the form that `text(of:)` writes.
        if text.count == count * (acceptedText.count + 1) + 1, text == Self.text(accepting: count) {
            return Array(repeating: .accepted, count: count)
        }
        return try answers(json: JSONValue(parsing: text, file: "deliver"), count: count)
    }

    /// The text of the answers to a batch.
    package static func text(of answers: [DeliveryAnswer]) -> [UInt8] {
        answers.allSatisfy { $0 == .accepted }
            ? text(accepting: answers.count) : JSONValue.array(answers.map(\.json)).utf8()
    }

    private static let acceptedText = DeliveryAnswer.accepted.json.utf8()

    private static func text(accepting count: Int) -> [UInt8] {
        var text = [UInt8(ascii: "[")]
        text.reserveCapacity(count * (acceptedText.count + 1) + 1)
        for index in 0..<count {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += acceptedText
        }
        text.append(UInt8(ascii: "]"))
        return text
    }
}

extension DeliveryAnswer: CustomStringConvertible {
    /// One line, such as `accepted as 4711` or `retry after 2.0 s: too many events [rate-limited]`.
    public var description: String {
        var text = outcome.rawValue
        if let id { text += " as \(id)" }
        if let retryAfter { text += " after \(retryAfter.brief)" }
        if let reason { text += ": \(reason)" }
        if let code { text += " [\(code)]" }
        return text.displayed(isUnicode: true)
    }
}
