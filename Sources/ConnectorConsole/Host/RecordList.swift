// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorOutbox

/// A list of waiting events or dead letters: `/outbox` or `/dead`, with `/find/TEXT` for those that contain a text, and with
/// `/after/CURSOR` for a later page.
struct RecordList {
    /// The maximum number of records on a page; a page of the console in a browser shows as many rows without splitting them again.
    static let limit = 100
    /// How many records a search reads at a time.
    static let stride = 500
    /// The number of records after which a search leaves the rest to the next page.
    static let searchLimit = 2000

    /// The state of the listed events.
    let state: OutboxRecord.State
    /// The text that the rows contain; empty for every event.
    let search: String
    /// Where the previous page ended; nil for the first page.
    let cursor: RecordCursor?

    /// Every dead letter, from the first.
    static let letters = RecordList(.dead, search: "", after: nil)

    private static let find = "find"
    private static let after = "after"

    private init(_ state: OutboxRecord.State, search: String, after cursor: RecordCursor?) {
        (self.state, self.search, self.cursor) = (state, search, cursor)
    }

    /// Parses a route; nil if it does not lead to a list of events.
    init?(_ route: Route) {
        let state: OutboxRecord.State
        switch route.root {
        case Route.outbox.root: state = .queued
        case Route.dead.root: state = .dead
        default: return nil
        }
        var (rest, search, cursor) = (route.parts.dropFirst(), "", nil as RecordCursor?)
        if rest.count >= 2, rest.first == Self.find {
            search = rest[rest.startIndex + 1]
            rest = rest.dropFirst(2)
        }
        if rest.count == 2, rest.first == Self.after {
            guard let place = rest.last.flatMap({ RecordCursor($0) }) else { return nil }
            cursor = place
            rest = []
        }
        guard rest.isEmpty else { return nil }
        self.init(state, search: search, after: cursor)
    }

    /// Whether it is the first page of every event.
    var isWhole: Bool { search.isEmpty && cursor == nil }

    /// The list of the events that contain a text, from the first.
    func searched(by text: String) -> RecordList { RecordList(state, search: text, after: nil) }

    /// The page that follows one which ended at a record.
    func page(after cursor: RecordCursor) -> RecordList { RecordList(state, search: search, after: cursor) }

    /// The route that leads to it.
    var route: Route {
        let root = state == .dead ? Route.dead : .outbox
        let found = search.isEmpty ? [] : [Self.find, search]
        return Route([root.root] + found + (cursor.map { [Self.after, $0.description] } ?? []))
    }
}

/// A page of a list of events.
package struct RecordPage: Sendable {
    /// The events, oldest first.
    package var records: [OutboxRecord]
    /// Where it ended; nil if no page follows.
    package var next: RecordCursor?
    /// The number of events on all pages; nil if it is not known.
    package var total: Int?
    /// The number of events that a search has read for this page.
    package var readCount = 0

    /// Creates a page.
    package init(_ records: [OutboxRecord] = [], next: RecordCursor? = nil, total: Int? = nil) {
        (self.records, self.next, self.total) = (records, next, total)
    }

    /// Its dead letters, to bind an act on all of them.
    var shownLetters: ShownLetters { ShownLetters(records, of: total) }
}

extension Route {
    /// The route of what a search finds.
    ///
    /// The lists of the outbox are searched where the events are, because a page shows only some of them; the scenes of all other routes
    /// have every row, and stay where they are.
    package func searched(by text: String) -> Route {
        // A browser resolves `.` and `..` in a path, even percent-encoded, so a link to the next page would lead elsewhere.
        guard !["", ".", ".."].contains(text), let list = RecordList(self) else { return self }
        return list.searched(by: text).route
    }
}
