// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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
