// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// The dead letters or events that an outbox command acts on.
struct OutboxSelection: ParsableArguments {
    @Argument(help: "The ids of the events.")
    var ids: [String] = []

    @Flag(help: "Every event; with --gate, every event of that connector.")
    var all = false

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("Specify ids or --all.") }
    }

    /// Acts on the selection, and shows how many events that were, which ids belong to none, and which letters are left.
    ///
    /// - Parameters:
    ///   - states: The states of the events that the command acts on.
    ///   - act: Acts on the events with some ids, or on all for nil; returns how many there were, and an error that says which are
    ///     left.
    /// - Throws: The error of `act`; `missing` if no id belongs to any event; `ExitStatus.failed` if some do not, or letters are left.
    func run(
        _ options: OutboxOptions,
        verb: String,
        on states: Set<OutboxRecord.State>,
        _ act: (any OutboxAccess, [String]?) async throws(ConnectorError) -> (count: Int, left: ConnectorError?)
    ) async throws {
        var errors: [ConnectorError] = []
        var named: Set<String> = []
        let ids = ids.filter { named.insert($0).inserted }
        try await options.run { outbox throws(ConnectorError) in
            let unknown = all ? [] : try await outbox.unknown(ids, in: states)
            let known = ids.filter { !unknown.contains($0) }
            // Without a known id, the command fails as it does for a single one.
            let (count, left) = try await act(outbox, all ? nil : known.isEmpty ? ids : known)
            let noun = states.contains(.queued) ? "event" : "dead letter"
            let document = CountDocument(verb: verb, count: count, noun: noun, unknown: unknown, left: left)
            errors = document.errors
            return document
        }
        guard !errors.isEmpty else { return }
        if !options.answer.isJSON { options.answer.report(errors) }
        throw ExitStatus.failed
    }
}
