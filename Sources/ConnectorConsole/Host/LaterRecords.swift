// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorOutbox

/// A later part of the list of waiting events or dead letters: `/outbox/after/PLACE`, `/dead/after/PLACE`.
struct LaterRecords {
    /// Which events are listed.
    let state: OutboxRecord.State
    /// Where the previous list ended.
    let place: RecordCursor

    private static let word = "after"

    /// Reads a route; nil for any other.
    init?(_ route: Route) {
        guard route.parts.count == 3, route.parts[1] == Self.word, let place = RecordCursor(route.parts[2]) else {
            return nil
        }
        switch route.root {
        case Route.outbox.root: state = .queued
        case Route.dead.root: state = .dead
        default: return nil
        }
        self.place = place
    }

    /// The route of the list after a full one; nil after one that is not full.
    ///
    /// - Parameter root: The route of the first list.
    static func route(after records: [OutboxRecord], in root: Route) -> Route? {
        records.next(limit: HostConsoleModel.recordLimit).map { Route([root.root, word, $0.description]) }
    }
}
