// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
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

    /// The ids; nil for all.
    var meant: [String]? { all ? nil : ids }
}
