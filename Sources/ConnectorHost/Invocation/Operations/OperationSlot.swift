// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One place in an ``OperationTable``: the call that it holds now, one of many over time.
///
/// Nothing here is locked. Everybody who wants to end the call, or to wait for it, changes ``standing`` by compare-and-exchange,
/// and who succeeds owns the ``content`` until it changes `standing` again.
@safe
struct OperationSlot: ~Copyable {
    /// Suspended until the call ends.
    typealias Waiter = UnsafeContinuation<OperationTable.Outcome, Never>

    /// Which use of the slot this is, and where its call stands.
    let standing = Atomic(Standing(use: 0, stage: .free))
    /// The instance that may complete the call.
    let owner = Atomic<UInt64>(0)
    /// The last use that the host gave up and the plugin has not completed since; 0 for none.
    let givenUp = Atomic<UInt64>(0)
    /// By whom that was to be completed.
    let givenUpOwner = Atomic<UInt64>(0)
    /// What belongs to one at a time. Elsewhere: changing a part of a structure in place is an exclusive access to all of it,
    /// and others read the standing meanwhile. To be read into a variable first: ThreadSanitizer takes an expression that begins
    /// with the slot for a change of the slot.
    let content: UnsafeMutablePointer<Content>

    /// What is known of a call besides where it stands.
    @safe
    struct Content {
        /// Whether somebody wants to know how far the call is.
        var isObserved = false
        /// How the call ended.
        var outcome: OperationTable.Outcome?
        /// Who waits for that.
        var waiter: Waiter?
    }

    /// A slot that is free.
    init(content: UnsafeMutablePointer<Content>) {
        unsafe self.content = content
    }

    /// Where a call stands.
    enum Stage: UInt64 {
        case free
        /// Pending, and nobody waits yet.
        case begun
        /// Pending, and the waiter is resumed when it ends.
        case awaited
        /// Nobody waits yet, and the outcome is being stored.
        case ending
        /// The outcome is being stored; who stores it resumes the waiter, which came meanwhile.
        case endingAwaited
        /// The outcome is stored.
        case ended

        /// Whether the call can still be ended.
        var isPending: Bool { self == .begun || self == .awaited }
    }

    /// A use and a stage in one word.
    struct Standing: RawRepresentable, AtomicRepresentable, Equatable {
        let rawValue: UInt64

        /// The bits of the stage.
        private static let mask: UInt64 = 7

        init(rawValue: UInt64) { self.rawValue = rawValue }

        init(use: UInt64, stage: Stage) { rawValue = use << 3 | stage.rawValue }

        /// How often the slot has been taken, from 1.
        var use: UInt64 { rawValue >> 3 }

        /// Where the call of this use stands.
        var stage: Stage { Stage(rawValue: rawValue & Self.mask) ?? .free }

        /// The same use at another stage.
        func at(_ stage: Stage) -> Standing { Standing(rawValue: rawValue & ~Self.mask | stage.rawValue) }
    }
}

extension OperationSlot {
    /// Notes that the host gives the current use up, before it does: the plugin may answer the moment it has.
    borrowing func markGivenUp(_ use: UInt64, owner: UInt64) {
        givenUpOwner.store(owner, ordering: .relaxed)
        givenUp.store(use, ordering: .releasing)
    }

    /// Whether a use was given up.
    borrowing func isGivenUp(_ use: UInt64, owner: UInt64) -> Bool {
        givenUp.load(ordering: .acquiring) == use && givenUpOwner.load(ordering: .relaxed) == owner
    }

    /// Whether a use was given up; says so once, for a second completion is one too many whatever came before.
    borrowing func forgetGivenUp(_ use: UInt64, owner: UInt64) -> Bool {
        isGivenUp(use, owner: owner)
            && givenUp.compareExchange(expected: use, desired: 0, ordering: .acquiringAndReleasing).exchanged
    }
}
