// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorManifest
internal import ConnectorOutbox

/// Which dead letters or events a command acts on.
struct OutboxSelection: ParsableArguments {
    @Argument(help: "Their ids.")
    var ids: [String] = []

    @Flag(help: "All of them; with --gate, all of that connector.")
    var all = false

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("Name the ids, or write --all.") }
    }

    /// What the engine is asked for.
    func selection(_ targets: Set<String>?, _ states: Set<OutboxRecord.State>) -> RecordSelection {
        RecordSelection(targets: targets, ids: all ? nil : Set(ids), states: states)
    }
}

extension OutboxSelection {
    /// Ids that mean nothing are an error.
    func check(_ count: Int) throws(ConnectorError) {
        guard count == 0, !all else { return }
        throw ConnectorError(
            .missing,
            "none of the ids names a dead letter",
            fix: "list them: connector-host outbox dead"
        )
    }
}
