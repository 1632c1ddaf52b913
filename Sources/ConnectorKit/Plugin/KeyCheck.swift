// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import Synchronization

/// Proves a key with a vendor whose API only answers whether it refuses a key.
///
/// A request that was not refused proves nothing about the key: the vendor may refuse no key at all. So when the gate opens, the same
/// request with a wrong key follows; proofs after that send only the real key, since repeated refusals would look like an attack.
public final class KeyCheck: Sendable {
    private let hasRefused = Atomic(false)

    /// Creates a check that knows nothing about the vendor yet.
    public init() {}

    /// Notes whether the vendor has refused the request with a wrong key. Any thread.
    public func note(isRefused: Bool) {
        hasRefused.store(isRefused, ordering: .relaxed)
    }

    /// Whether the vendor refuses wrong keys, as far as is known. Any thread.
    public var refusesWrongKeys: Bool { hasRefused.load(ordering: .relaxed) }

    /// The evidence of a request that the vendor did not refuse, after it was asked whether it refuses a wrong key.
    ///
    /// - Parameters:
    ///   - reachable: What the request proved so far.
    ///   - request: The request with a wrong key; it must leave no trace.
    ///   - http: The service that sends it.
    ///   - isRefusal: Whether a response refuses the key; by default its status is 401 or 403.
    public func evidence(
        _ reachable: Evidence,
        refused request: HTTPRequest,
        by http: any HTTPService,
        isRefusal: (HTTPResponse) -> Bool = { $0.status == 401 || $0.status == 403 }
    ) async -> [Evidence] {
        let refusal = try? await http.send(request)
        note(isRefused: refusal.map(isRefusal) ?? false)
        return evidence(reachable)
    }

    /// The evidence of a request that the vendor did not refuse: that it is reachable and, if it refuses wrong keys, that the key is
    /// right.
    public func evidence(_ reachable: Evidence) -> [Evidence] {
        guard refusesWrongKeys else { return [reachable] }
        return [reachable, .authenticated("the same request with another key is refused")]
    }
}
