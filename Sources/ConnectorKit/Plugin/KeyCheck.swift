// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import Synchronization

/// Proves a key for a vendor whose API reports that it refuses a key, but never that it accepts one.
///
/// A request that is not refused proves nothing about the key: the vendor may refuse no key at all. So when the gate opens, the same
/// request follows with a wrong key; later probes send only the real key, since repeated refusals would look like an attack.
public final class KeyCheck: Sendable {
    private let hasRefused = Atomic(false)

    /// Creates a check that knows nothing about the vendor yet.
    public init() {}

    /// Notes whether the vendor refused the request with a wrong key. Any thread.
    public func note(isRefused: Bool) {
        hasRefused.store(isRefused, ordering: .relaxed)
    }

    /// Whether the vendor refused the last wrong key; false before the first. Any thread.
    public var refusesWrongKeys: Bool { hasRefused.load(ordering: .relaxed) }

    /// Sends the request with a wrong key, and returns the evidence of the one with the real key, which the vendor did
    /// not refuse.
    ///
    /// - Parameters:
    ///   - reachable: What the request with the real key proved.
    ///   - request: The request with a wrong key; it must leave no trace.
    ///   - http: The service that sends it.
    ///   - isRefusal: Whether a response refuses the key; by default its status is 401 or 403.
    public func evidence(
        _ reachable: Evidence,
        refused request: HTTPRequest,
        by http: any HTTPService,
        isRefusal: (HTTPResponse) -> Bool = { $0.status == 401 || $0.status == 403 }
    ) async -> [Evidence] {
        let refusal = await http.sendForEvidence(request)
        note(isRefused: refusal.map(isRefusal) ?? false)
        return evidence(reachable)
    }

    /// The evidence of a request that the vendor did not refuse: the vendor is reachable and, if it refuses wrong keys, the key is right.
    public func evidence(_ reachable: Evidence) -> [Evidence] {
        guard refusesWrongKeys else { return [reachable] }
        return [reachable, .authenticated("the same request with another key is refused")]
    }
}
