// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// The dead letters or events that a command acts on.
struct OutboxSelection: ParsableArguments {
    @Argument(help: "The ids of the events.")
    var ids: [String] = []

    @Flag(help: "Every event; with --gate, every event of that connector.")
    var all = false

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("Specify ids or --all.") }
    }

    /// The ids; nil for all.
    var selectedIDs: [String]? { all ? nil : ids }
}
