// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorOutbox

/// A list of events that wait or are dead letters, which begins after a place: `/outbox/after/PLACE`, `/dead/after/PLACE`.
struct LaterRecords {
    /// What is listed.
    let state: OutboxRecord.State
    /// Where the list before ended.
    let place: RecordPlace

    private static let word = "after"

    /// Reads a route; nil for any other.
    init?(_ route: Route) {
        guard route.parts.count == 3, route.parts[1] == Self.word, let place = RecordPlace(route.parts[2]) else {
            return nil
        }
        switch route.root {
        case Route.outbox.root: state = .queued
        case Route.dead.root: state = .dead
        default: return nil
        }
        self.place = place
    }

    /// The link that a full list ends with; nil for one that is not full.
    ///
    /// - Parameter root: The list from its beginning.
    static func link(after records: [OutboxRecord], in root: Route, _ context: SceneContext) -> Component? {
        guard let next = records.next(limit: HostConsoleModel.recordLimit) else { return nil }
        var details = DetailsModel()
        details.add("more", StyledText("those after these", .link), link: Route([root.root, word, next.description]))
        return context.component("more", details)
    }
}
