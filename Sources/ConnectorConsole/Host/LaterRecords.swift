// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorOutbox

/// A later page of the list of waiting events or dead letters: `/outbox/after/CURSOR`, `/dead/after/CURSOR`.
struct LaterRecords {
    /// The maximum number of outbox records in one list.
    static let limit = 200
    /// The state of the listed events.
    let state: OutboxRecord.State
    /// Where the previous page ended.
    let cursor: RecordCursor

    private static let word = "after"

    /// Parses a route; nil if it does not lead to a later page.
    init?(_ route: Route) {
        guard route.parts.count == 3, route.parts[1] == Self.word, let cursor = RecordCursor(route.parts[2]) else {
            return nil
        }
        switch route.root {
        case Route.outbox.root: state = .queued
        case Route.dead.root: state = .dead
        default: return nil
        }
        self.cursor = cursor
    }

    /// The route of the page after a full one; nil after one that is not full.
    ///
    /// - Parameter root: The route of the first page.
    static func route(after records: [OutboxRecord], in root: Route) -> Route? {
        records.next(limit: limit).map { Route([root.root, word, $0.description]) }
    }
}
