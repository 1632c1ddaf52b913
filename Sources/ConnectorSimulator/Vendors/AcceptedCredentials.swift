// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The sets of credentials a vendor accepts, each keyed by the configuration keys of the vendor's adapter.
///
/// Several connectors may use one vendor with different accounts, and a reload may add more.
package final class AcceptedCredentials: Sendable {
    private let accepted: Mutex<[[String: String]]>

    /// Accepts every one of `sets`.
    package init(_ sets: [[String: String]]) {
        accepted = Mutex(sets)
    }

    /// The accepted sets; any one of them suffices.
    package var sets: [[String: String]] { accepted.withLock(\.self) }

    /// Accepts a further set.
    ///
    /// - Returns: Whether the set is new.
    func add(_ set: [String: String]) -> Bool {
        accepted.withLock { sets in
            guard !sets.contains(set) else { return false }
            sets.append(set)
            return true
        }
    }

    /// Whether any set has `value` under `key`.
    package func accepts(_ key: String, _ value: String?) -> Bool {
        guard let value, !value.isEmpty else { return false }
        return sets.contains { $0[key] == value }
    }

    /// Whether one set has all of `values`; a nil value matches a set without that key.
    package func accepts(_ values: [String: String?]) -> Bool {
        sets.contains { set in values.allSatisfy { set[$0.key] == $0.value } }
    }

    /// Whether any set has a value under `key`, so that the vendor can require one.
    package func requires(_ key: String) -> Bool {
        sets.contains { !($0[key] ?? "").isEmpty }
    }

    /// Every value under `keys`, in all sets.
    package func values(of keys: [String]) -> [String] {
        sets.flatMap { set in keys.compactMap { set[$0] } }
    }

    /// Whether a request carries an accepted `username` and `password`, or needs none.
    func acceptsBasic(of request: SimulatedRequest) -> Bool {
        guard requires("username") else { return true }
        guard let given = request.basicCredentials else { return false }
        return accepts(["username": given.username, "password": given.password])
    }
}
