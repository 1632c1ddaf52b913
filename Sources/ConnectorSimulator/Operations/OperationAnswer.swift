// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One answer of a simulated operation: the calls that get it, what it keeps, and what it returns.
struct OperationAnswer: Sendable {
    /// The operation's name; `capability/operation` if two capabilities share it.
    var operation: String
    /// What the arguments must have; nil for any.
    var arguments: JSONValue?
    /// How many calls get this answer; nil for all.
    var times: Int?
    /// How long the answer takes.
    var delay = Duration.zero
    /// The record that must exist, and that `record` then refers to.
    var read: Place?
    /// The record that must exist, and that is removed.
    var remove: Place?
    /// The collection that `records` refers to.
    var list: JSONTemplate?
    /// The record that is kept.
    var keep: Kept?
    /// What the call ends with.
    var outcome: Outcome

    /// Where a record is: its collection, and its key there.
    struct Place: Sendable {
        var collection: JSONTemplate
        var key: JSONTemplate
    }

    /// A record to keep, in place of an earlier one.
    struct Kept: Sendable {
        var place: Place
        var value: JSONTemplate
    }

    /// How a call ends.
    enum Outcome: Sendable {
        case result(JSONTemplate)
        case failure(ConnectorError)
    }
}
