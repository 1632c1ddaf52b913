// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// How many calls went to a connector, and how many of them failed, since the host was made.
///
/// Calls by name count, whether a client of a capability or ``GateClient`` made them. Those through ``TypedOperation`` and
/// ``GateClient/withPrepared(_:_:)`` do not: there a counter would cost as much as the call.
public struct CallCounters: Sendable {
    /// Calls that were begun.
    public var total: UInt64 = 0
    /// Calls that failed; one that its caller cancelled did not.
    public var failures: UInt64 = 0
    /// How the last one failed.
    public var lastFailure: ConnectorError?
}

extension CallCounters {
    /// As the report shows them.
    var json: JSONValue {
        var object = JSONObject()
        object["total"] = .integer(Int64(clamping: total))
        object["failures"] = .integer(Int64(clamping: failures))
        object["lastFailure"] = lastFailure.map(\.json)
        return .object(object)
    }
}
