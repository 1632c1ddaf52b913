// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How the two children of a `canary` composite perform, side by side.
public struct CanaryReport: Sendable, Hashable {
    /// The share of calls that the second child receives now, in percent: 0 once it was withdrawn.
    public var share: Double
    /// Why the second child no longer receives calls; nil while it does.
    public var withdrawal: String?
    /// The child in use.
    public var first: Child
    /// The child being tried.
    public var second: Child

    /// The remembered calls of one child; recent ones count more.
    public struct Child: Sendable, Hashable {
        /// The path.
        public var path: String
        /// The calls made.
        public var calls: Int
        /// The calls that failed, except those that their callers cancelled.
        public var failures: Int
        /// The mean duration of the calls that succeeded; nil before the first.
        public var mean: Duration?
    }
}

extension CanaryReport {
    /// The canary's part of the report.
    var json: JSONValue {
        var object = JSONObject()
        object["share"] = .number(share)
        object["withdrawal"] = withdrawal.map { .string($0) }
        object["first"] = first.json
        object["second"] = second.json
        return .object(object)
    }
}

extension CanaryReport.Child {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "path": .string(path), "calls": .integer(Int64(calls)), "failures": .integer(Int64(failures)),
        ]
        object["meanMilliseconds"] = mean.map { .number(Double($0.nanoseconds / 1000) / 1000) }
        return .object(object)
    }
}
