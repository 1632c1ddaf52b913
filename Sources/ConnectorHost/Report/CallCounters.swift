// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// How many calls a connector received, and how many failed, since the host was created.
///
/// Counts calls by name, through a capability's client or ``GateClient``. Calls through ``TypedOperation`` and
/// ``GateClient/withPrepared(_:options:_:)`` are not included; the metrics count those: see <doc:Observing>.
public struct CallCounters: Sendable {
    /// Calls that have begun.
    public var total: UInt64 = 0
    /// Calls that failed, except those cancelled by the caller.
    public var failures: UInt64 = 0
    /// The error of the last failed call.
    public var lastFailure: ConnectorError?
}

extension CallCounters {
    /// The counters' part of the report.
    var json: JSONValue {
        var object = JSONObject()
        object["total"] = .integer(Int64(clamping: total))
        object["failures"] = .integer(Int64(clamping: failures))
        object["lastFailure"] = lastFailure.map(\.json)
        return .object(object)
    }
}
