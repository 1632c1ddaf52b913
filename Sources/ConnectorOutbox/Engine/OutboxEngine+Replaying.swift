// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Replaying dead letters, whatever the engine.
extension OutboxEngine {
    /// How many records are moved at a time.
    package static var pageSize: Int { 1000 }

    /// Puts dead letters back in the queue; leaves those of connectors to which nothing is delivered, where they would wait forever, or for
    /// which the store is not prepared, and those without a payload, of which nothing could be delivered.
    ///
    /// - Parameter paths: The connectors of the configuration.
    /// - Returns: How many, and an error that says which are left; nil if none is.
    package func replay(
        _ selection: RecordSelection,
        among paths: Set<String>
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        let prepared = try await prepared(paths)
        var left: [String: Int] = [:]
        for (path, queue) in try await statistics() where queue.dead > 0 && !prepared.contains(path) {
            if selection.paths?.contains(path) ?? true { left[path] = queue.dead }
        }
        if selection.ids != nil, !left.isEmpty {
            let others = RecordSelection(paths: Set(left.keys), ids: selection.ids, states: [.dead])
            left = Dictionary(grouping: try await records(others), by: \.path).mapValues(\.count)
        }
        var selection = selection
        selection.paths = selection.paths?.intersection(prepared) ?? prepared
        let count = try await replay(selection)
        selection.states = [.dead]
        // What is left has not changed what was replayed, so a failure to read it is no error.
        let empty = (try? await records(selection))?.count { $0.event.payload.isEmpty } ?? 0
        return (count, Self.leaving(left, among: paths, withoutPayload: empty))
    }

    /// The error that says how many dead letters stay with connectors to which nothing is delivered, and how many stay because the store
    /// has no payload of them; nil if none does.
    ///
    /// - Parameter connectors: The connectors of the configuration.
    private static func leaving(
        _ letters: [String: Int],
        among connectors: Set<String>,
        withoutPayload empty: Int
    ) -> ConnectorError? {
        let lost = "\(stay(empty)), as the outbox has no payload of \(empty == 1 ? "it" : "them")"
        guard !letters.isEmpty else {
            guard empty > 0 else { return nil }
            return ConnectorError(
                .tooLarge,
                lost,
                fix: "see why: connector-host outbox dead; then drop what is lost: connector-host outbox drop ID"
            )
        }
        let count = letters.values.reduce(0) { $0.saturatingAdding($1) }
        let paths = letters.keys.sorted()
        let names = paths.prefix(10).map(\.excerpt).joined(separator: ", ") + (paths.count > 10 ? ", …" : "")
        let reason =
            paths.allSatisfy { connectors.contains($0) }
            ? "as the outbox has no queue for" : "as no connector of the configuration gets them:"
        let kept = "\(stay(count)), \(reason) \(names)"
        return ConnectorError(
            .unknownConnector,
            empty == 0 ? kept : "\(kept); \(lost)",
            fix: "bring them to another connector: connector-host outbox replay --to PATH",
            connector: paths.count == 1 ? paths[0] : nil
        )
    }

    private static func stay(_ count: Int) -> String { "\(count) dead letter\(count == 1 ? " stays" : "s stay")" }

    /// Puts dead letters into the queue of another connector, and removes them from those that could not deliver them.
    ///
    /// Each letter's event is in the other connector's queue, with its id, before the letter is removed. Letters without a payload stay,
    /// and those whose events the other connector has delivered before or does not take.
    ///
    /// - Parameter refusal: Why the other connector takes no events of a kind; nil if it does.
    /// - Returns: How many, and an error that says which are left; nil if none is.
    package func replay(
        _ selection: RecordSelection,
        to path: String,
        unless refusal: @Sendable (EventKind) -> ConnectorError? = { _ in nil }
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        var selection = selection
        (selection.states, selection.limit) = ([.dead], Self.pageSize)
        var count = 0
        var left: [String: SkippedLetters] = [:]
        repeat {
            let records = try await records(selection)
            selection.after = records.next(limit: Self.pageSize)
            var letters = records.filter { $0.path != path }
            letters = leave(&left, of: letters) { letter in
                letter.event.payload.isEmpty ? (code: .tooLarge, text: "the outbox has no payload") : nil
            }
            letters = leave(&left, of: letters) { letter in
                refusal(letter.event.kind).map { (code: $0.code, text: $0.message) }
            }
            guard !letters.isEmpty else { continue }
            let states = try await states(of: letters, at: path)
            letters = leave(&left, of: letters) { letter in
                guard states[letter.event.id] == .delivered else { return nil }
                return (code: .conflict, text: "\(path.excerpt) has delivered the event before")
            }
            let dead = Set(letters.map(\.event.id).filter { states[$0] == .dead })
            if !dead.isEmpty { _ = try await replay(RecordSelection(paths: [path], ids: dead, states: [.dead])) }
            let others = letters.filter { states[$0.event.id] != .dead && states[$0.event.id] != .queued }
            if !others.isEmpty { try await store(others, alsoFor: path) }
            for (origin, part) in Dictionary(grouping: letters, by: \.path) {
                let ids = Set(part.map(\.event.id))
                count += try await drop(RecordSelection(paths: [origin], ids: ids, states: [.dead]))
            }
        } while selection.after != nil
        return (count, Self.leaving(left))
    }

    /// What is known of the events of letters at another connector.
    ///
    /// Engines that hosts share know only their dead letters for sure: an event that another host or program has dropped looks delivered.
    private func states(
        of letters: [OutboxRecord],
        at path: String
    ) async throws(ConnectorError) -> [String: OutboxRecord.State] {
        let ids = Set(letters.map(\.event.id))
        let known = try await records(RecordSelection(paths: [path], ids: ids, states: isShared ? [.dead] : nil))
        // A letter without a payload cannot be replayed, but its event can be stored once more.
        let whole = known.filter { $0.state != .dead || !$0.event.payload.isEmpty }
        return Dictionary(whole.map { ($0.event.id, $0.state) }) { first, _ in first }
    }

    /// Removes letters that stay, and counts them by the reason.
    ///
    /// - Parameter reason: Why a letter stays; nil if it does not.
    /// - Returns: The others.
    private func leave(
        _ left: inout [String: SkippedLetters],
        of letters: [OutboxRecord],
        _ reason: (OutboxRecord) -> (code: ConnectorError.Code, text: String)?
    ) -> [OutboxRecord] {
        letters.filter { letter in
            guard let (code, text) = reason(letter) else { return true }
            left[text, default: SkippedLetters(code: code, count: 0)].count += 1
            return false
        }
    }

    /// The error that says how many dead letters stay, and why; nil if none does.
    private static func leaving(_ left: [String: SkippedLetters]) -> ConnectorError? {
        let reasons = left.sorted { $0.key < $1.key }
        guard let first = reasons.first else { return nil }
        return ConnectorError(
            first.value.code,
            reasons.map { "\(stay($1.count)), as \($0)" }.joined(separator: "; "),
            fix: "see them: connector-host outbox dead; drop those you no longer need: connector-host outbox drop ID"
        )
    }
}

/// Dead letters that a replay leaves for one reason.
private struct SkippedLetters {
    var code: ConnectorError.Code
    var count: Int
}
