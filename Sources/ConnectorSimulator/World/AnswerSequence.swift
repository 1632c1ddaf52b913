// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation

/// Answers of operations, and how often each was given.
struct AnswerSequence: Sendable {
    private let answers: [OperationAnswer]
    private var counts: [Int]

    /// Creates a sequence of which no answer has been given.
    init(_ answers: [OperationAnswer]) {
        self.answers = answers
        counts = Array(repeating: 0, count: answers.count)
    }

    /// Gives the first answer that matches a call and is not used up; nil if there is none.
    ///
    /// - Parameters:
    ///   - label: The label of the operation in its manifest.
    ///   - values: The values that templates refer to, except the count and the records.
    mutating func answer(
        _ label: String,
        _ arguments: JSONObject,
        _ values: JSONTemplate.Values,
        _ records: inout SimulatedRecords
    ) throws(ConnectorError) -> StandIn.Answer? {
        for (index, answer) in answers.enumerated() where answer.matches(label, arguments) {
            guard counts[index] < answer.times ?? .max else { continue }
            var values = values
            values["count"] = .integer(Int64(counts[index]) + 1)
            guard try answer.finds(in: records, &values) else { continue }
            counts[index] += 1
            return try answer.given(&records, values)
        }
        return nil
    }
}
