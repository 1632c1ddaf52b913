// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import Synchronization

/// Whether the calls of a gate have to ask before they begin, and report how they end.
///
/// For most gates they need not, so each call only reads this: one load.
package final class CallWatch: Sendable {
    private let flag: Atomic<Bool>

    /// Creates a watch.
    package init(isOn: Bool = false) {
        flag = Atomic(isOn)
    }

    /// Whether calls have to ask.
    package var isOn: Bool { flag.load(ordering: .relaxed) }

    /// Says whether calls have to ask.
    package func set(_ isOn: Bool) {
        flag.store(isOn, ordering: .relaxed)
    }
}

/// The right to make one call, or to take one lease; its giver is notified of the end.
package struct CallTicket: Sendable {
    /// What its giver knows it by.
    package let round: UInt64

    /// Creates a ticket.
    package init(round: UInt64) {
        self.round = round
    }
}

/// One typed caller of a gate that watches its calls. A gate that does not watch them has none.
@usableFromInline
package final class WatchedCaller: Sendable {
    private let gate: any CalledGate
    /// The lease's own ticket; nil for a prepared call, which has one for each call.
    private let lease: CallTicket?
    /// The last error of a call of the lease.
    private let failure = Mutex<ConnectorError?>(nil)

    /// Watches a prepared call, which asks before each call.
    package init(_ gate: any CalledGate) {
        self.gate = gate
        lease = nil
    }

    /// Watches a lease, which counts as one call: it has failed if one of its calls has.
    ///
    /// - Throws: `not-open` if the gate wants no calls at present.
    package init(leaseOf gate: any CalledGate) throws(ConnectorError) {
        self.gate = gate
        lease = try gate.beginWatched()
    }

    deinit {
        if let lease { gate.endWatched(lease, failure.withLock(\.self)) }
    }

    /// Notes that a call of the lease has failed.
    @usableFromInline
    package func failed(_ error: ConnectorError) {
        failure.withLock { $0 = error }
    }

    /// Makes one call.
    func call(_ body: () throws(ConnectorError) -> Void) throws(ConnectorError) {
        let ticket = try gate.beginWatched()
        do throws(ConnectorError) {
            try body()
            gate.endWatched(ticket, nil)
        } catch {
            gate.endWatched(ticket, error)
            throw error
        }
    }
}
