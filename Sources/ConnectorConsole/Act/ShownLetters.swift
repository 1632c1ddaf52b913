// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// The dead letters that an operator saw: the first page of them, and the number of all.
///
/// An act on all of them is bound to it, as the act that applies a plan is to the plan: if letters arrive between the question and its
/// answer, nothing is done. Of the pages after the first, which the operator does not see, only the number of letters counts: a letter
/// that has taken the place of another there goes unnoticed.
package struct ShownLetters: Sendable, Hashable {
    /// The number of letters on all pages.
    let count: Int
    private let first: Set<Letter>

    private struct Letter: Hashable {
        var id: String
        var path: String
    }

    /// The letters of a list.
    ///
    /// - Parameters:
    ///   - records: Those on its first page.
    ///   - total: The number of all; nil if these are all.
    init(_ records: [OutboxRecord], of total: Int? = nil) {
        count = max(total ?? 0, records.count)
        first = Set(records.map { Letter(id: $0.event.id, path: $0.path) })
    }

    /// The error of an act on letters that are no longer these.
    var conflict: ConnectorError {
        let letters = count == 1 ? "the one that was" : "the \(count) that were"
        return ConnectorError(
            .conflict,
            "nothing was done, as the dead letters are no longer \(letters) shown: look at them again"
        )
    }
}
