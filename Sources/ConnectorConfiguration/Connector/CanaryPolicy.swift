// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How a composite with the policy `canary` divides calls between its two children, and when it stops.
public struct CanaryPolicy: Sendable, Hashable {
    /// The share of calls that the second child receives, in percent: 0 to 100, in steps of 0.01.
    public var share = 5.0
    /// Where the arguments have the key by which calls are divided, as a JSON pointer (RFC 6901); nil to divide calls
    /// one by one.
    ///
    /// All calls with the same key go to the same child. The pointer starts at the operation's only JSON parameter, or else at the
    /// object of all arguments. Calls without the key go to the first child.
    public var key: String?
    /// How many percentage points more of the second child's calls may fail than of the first child's: 0 to 100.
    public var failures = 5.0
    /// How many times longer than the first child the second one may take on average: 1 or more.
    public var slower = 2.0
    /// How many calls the second child must have received before it is judged: 1 or more.
    public var calls = 50

    /// Creates a policy with the default settings: 5 percent of the calls, divided one by one.
    public init() {}

    /// The share in hundredths of a percent.
    package var basisPoints: UInt64 { UInt64((min(max(share, 0), 100) * 100).rounded()) }
}

extension CanaryPolicy {
    /// The keys of a composite's `canary`.
    static let keys = ["share", "key", "failures", "slower", "calls"]

    /// The settings as in the file.
    var json: JSONValue {
        var object: JSONObject = [
            "share": .number(share), "failures": .number(failures), "slower": .number(slower),
            "calls": .integer(Int64(calls)),
        ]
        object["key"] = key.map { .string($0) }
        return .object(object)
    }

    /// The settings in words.
    var text: String {
        "\(share.brief) %" + (key.map { " by \($0)" } ?? "")
            + ", until \(failures.brief) points more fail or \(slower.brief) times slower, from \(calls) calls"
    }
}

extension Double {
    /// The number without a fraction of zero.
    fileprivate var brief: String { Int(exactly: self).map { "\($0)" } ?? "\(self)" }
}
