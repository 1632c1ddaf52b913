// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorOutbox

/// The outbox of a host, as the console shows it and acts on it.
struct ShownOutbox: Sendable {
    let host: ConnectorHost

    // MARK: Lists

    /// A page of the waiting events or the dead letters.
    ///
    /// - Parameter time: The moment from which their ages are counted.
    func page(of list: RecordList, at time: Timestamp) async throws(ConnectorError) -> RecordPage {
        guard list.search.isEmpty else { return try await search(list, at: time) }
        return try await page(of: list)
    }

    private func page(of list: RecordList) async throws(ConnectorError) -> RecordPage {
        let selection = RecordSelection(states: [list.state], limit: RecordList.limit, after: list.cursor)
        let records = try await host.outboxRecords(selection)
        var page = RecordPage(records, next: records.next(limit: RecordList.limit))
        guard list.state == .dead else { return page }
        guard page.next != nil || list.cursor != nil else {
            page.total = records.count
            return page
        }
        page.total = try await host.outboxStatistics().values.reduce(0) { $0.saturatingAdding($1.dead) }
        return page
    }

    /// A page of the events whose rows contain a text. It reads on until the page is full, but only a limited number of events.
    private func search(_ list: RecordList, at time: Timestamp) async throws(ConnectorError) -> RecordPage {
        let text = list.search.lowercased()
        var selection = RecordSelection(states: [list.state], limit: RecordList.stride, after: list.cursor)
        var page = RecordPage()
        repeat {
            let records = try await host.outboxRecords(selection)
            // A page can end at any record only if the records are in the order of their cursors.
            let ordered = records.sorted { left, right in
                guard let first = left.cursor, let second = right.cursor else { return false }
                return first < second
            }
            for record in ordered {
                page.readCount += 1
                guard EventTable.row(record, at: time).contains(text) else { continue }
                page.records.append(record)
                page.next = record.cursor
                if page.records.count == RecordList.limit { return page }
            }
            page.next = records.next(limit: RecordList.stride)
            selection.after = page.next
        } while page.next != nil && page.readCount < RecordList.searchLimit
        return page
    }

    // MARK: Acts

    /// Puts the dead letters that an act names back in the queue.
    ///
    /// - Returns: The number of letters, and an error that says which are left; nil if none is.
    /// - Throws: `conflict` if the letters are no longer those that were shown; `missing` if the only one is gone; the error that says
    ///   which are left, if all are; `unknown-connector` or `unsupported` for an act that names no letters.
    func replay(
        _ subject: ConsoleAct.Subject
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        let selection: RecordSelection
        if case .letters(let shown?) = subject.kind {
            let letters = try await current(shown)
            let ids = letters.values.reduce(into: Set<String>()) { $0.formUnion($1) }
            selection = RecordSelection(paths: Set(letters.keys), ids: ids, states: [.dead])
        } else {
            selection = try await self.selection(subject)
        }
        let (count, left) = try await host.replay(selection)
        if count == 0, let error = left ?? Self.absence(of: subject) { throw error }
        return (count, left)
    }

    /// Drops the dead letters that an act names for good.
    ///
    /// - Returns: The number of letters.
    /// - Throws: `conflict` if the letters are no longer those that were shown; `missing` if the only one is gone; `unknown-connector` or
    ///   `unsupported` for an act that names no letters.
    func drop(_ subject: ConsoleAct.Subject) async throws(ConnectorError) -> Int {
        guard case .letters(let shown?) = subject.kind else {
            let count = try await host.drop(selection(subject))
            if count == 0, let error = Self.absence(of: subject) { throw error }
            return count
        }
        var count = 0
        // One connector at a time, because an event that is lost at one may still be on its way to another.
        for (path, ids) in try await current(shown) {
            count += try await host.drop(RecordSelection(paths: [path], ids: ids, states: [.dead]))
        }
        return count
    }

    /// The ids of the dead letters that were shown, by connector. Letters that arrive from now on are not among them.
    ///
    /// - Throws: `conflict` if there are others by now.
    private func current(_ shown: ShownLetters) async throws(ConnectorError) -> [String: Set<String>] {
        guard try await page(of: .letters).shownLetters == shown else { throw shown.conflict }
        var letters: [String: Set<String>] = [:]
        var count = 0
        var selection = RecordSelection(states: [.dead], limit: RecordList.stride)
        repeat {
            let records = try await host.outboxRecords(selection)
            for record in records { letters[record.path, default: []].insert(record.event.id) }
            count += records.count
            selection.after = records.next(limit: RecordList.stride)
        } while selection.after != nil
        guard count <= shown.count else { throw shown.conflict }
        return letters
    }

    /// The dead letters that an act names: those of a gate and everything below it, a single one, or all.
    ///
    /// - Throws: `unknown-connector` for a gate that does not exist; `unsupported` for what has no letters of its own.
    private func selection(_ subject: ConsoleAct.Subject) async throws(ConnectorError) -> RecordSelection {
        switch subject.kind {
        case .gate(let path):
            return RecordSelection(paths: try await host.deadLetterPaths(of: path), states: [.dead])
        case .letter(let id, let connector):
            return RecordSelection(paths: connector.map { [$0] }, ids: [id], states: [.dead])
        case .letters: return RecordSelection(states: [.dead])
        case .application, .operation, .plan: throw HostConsoleModel.impossible
        }
    }

    /// The error if nothing was done to a single dead letter, because it is gone; nil for any other subject.
    private static func absence(of subject: ConsoleAct.Subject) -> ConnectorError? {
        guard case .letter(let id, let connector) = subject.kind else { return nil }
        let place = connector.map { " at \($0)" } ?? ""
        return ConnectorError(.missing, "there is no dead letter \(id)\(place): it was replayed or dropped meanwhile")
    }
}
