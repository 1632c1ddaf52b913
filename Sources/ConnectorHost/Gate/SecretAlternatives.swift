// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration

/// The alternatives of a gate's secrets that an attempt to open has not tried yet.
struct SecretAlternatives {
    private var rest: [GatePlan.InstanceConfiguration]
    private var tried: [GatePlan.InstanceConfiguration] = []

    /// Starts with these configurations, to be tried in order.
    init(_ configurations: [GatePlan.InstanceConfiguration]) {
        rest = configurations
    }

    /// Whether all have been tried.
    var isEmpty: Bool { rest.isEmpty }

    /// Returns the next one to try; nil if none is left.
    mutating func next() -> GatePlan.InstanceConfiguration? {
        guard !rest.isEmpty else { return nil }
        let next = rest.removeFirst()
        tried.append(next)
        return next
    }

    /// Replaces the remaining ones with those of the given ones that have not been tried.
    mutating func add(_ configurations: [GatePlan.InstanceConfiguration]) {
        rest = configurations.filter { !tried.contains($0) }
    }
}

/// The secrets that a vendor refused, each with the number of proofs to wait before it is tried again.
struct RefusedSecrets {
    private struct Entry {
        var configuration: GatePlan.InstanceConfiguration
        var failures = 1
        var wait = 1
    }

    private var entries: [Entry] = []
    /// The maximum number of proofs to wait, and of refused secrets to remember.
    private static let (longestWait, limit) = (64, 16)

    /// Whether to try these secrets at this proof. Call it once per proof, because it counts them.
    mutating func mayTry(_ configuration: GatePlan.InstanceConfiguration) -> Bool {
        guard let index = entries.firstIndex(where: { $0.configuration == configuration }) else { return true }
        entries[index].wait -= 1
        return entries[index].wait <= 0
    }

    /// Remembers that these secrets were refused. They are tried again at the next proof, then after 4, 8, 16, 32, and
    /// from then on 64 proofs.
    mutating func add(_ configuration: GatePlan.InstanceConfiguration) {
        if let index = entries.firstIndex(where: { $0.configuration == configuration }) {
            entries[index].failures += 1
            entries[index].wait = min(Self.longestWait, 1 << min(entries[index].failures, 16))
        } else {
            entries.append(Entry(configuration: configuration))
            if entries.count > Self.limit { entries.removeFirst() }
        }
    }
}

/// When a refused call may make a gate read its secrets again: at once, and while calls go on being refused after waits
/// from a second to a minute.
///
/// A vendor that refuses every call for a while, whatever the secret, does not make the host run the program that prints
/// it as often.
struct RenewalPace {
    /// How many readings have followed each other.
    private var count = 0
    /// When the next reading may begin.
    private var next: UInt64 = 0
    private static let backoff = Backoff(initial: .seconds(1), maximum: .seconds(60))

    /// Whether to read the secrets now. If so, counts the reading.
    ///
    /// - Parameter isCertain: Whether a proof was refused: proofs have intervals of their own.
    mutating func begins(at now: UInt64, isCertain: Bool) -> Bool {
        guard isCertain || now >= next else { return false }
        // No call was refused for as long as the last wait.
        if now - min(now, next) >= Self.backoff.bound(after: count).nanoseconds { count = 0 }
        count += 1
        next = now.saturatingAdding(Self.backoff.bound(after: count).nanoseconds)
        return true
    }
}

extension ConnectorError {
    /// The error of an attempt or a proof; if the vendor refused secrets that may be outdated, with the reason as a cause.
    func explained(by fault: SecretFault?) -> ConnectorError {
        guard code == .unauthorized, let fault else { return self }
        var error = self
        error.cause = (cause.map { "\($0); " } ?? "") + fault.warning
        error.fix = fault.error.fix ?? fix
        return error
    }
}
