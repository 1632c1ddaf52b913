// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import Synchronization

/// One slot of an ``OperationTable``, which holds many calls over time, one at a time.
///
/// Nothing here is locked. A mutex at each of the three steps of a call makes one that completes inline 40 % slower,
/// and many times that with several threads in one gate. Instead, the word ``state`` names the use and its stage,
/// and every step is one compare-and-exchange of it. Of two threads that want the same step, one succeeds:
///
/// | from | to | by the new owner of ``content`` |
/// |---|---|---|
/// | free | begun | the caller that took the slot and alone knows the id |
/// | begun | awaited | the waiter, which has stored itself in the content and now lets it go |
/// | begun, awaited | storing | the finisher: the plugin, the deadline or the caller |
/// | storing | stored | the finisher, which has stored the outcome in the content and now lets it go |
/// | storing | storingAwaited | the waiter, which arrived in between and lets the content go |
/// | stored | free | the caller that takes the outcome |
/// | awaited → storing; storingAwaited | free | the finisher, which takes the waiter out and resumes it last |
///
/// The races:
///
/// - *Two threads finish a call.* The exchange from a pending stage succeeds once. The other thread reads a stage that
///   is not pending.
/// - *One thread finishes a call while another begins to wait.* Before `storing`, either exchange comes first, and the
///   other thread sees it and tries again. After it, the exchanges from `storing` to `stored` and to `storingAwaited`
///   exclude each other: either the waiter reads `stored` and takes the outcome, or the finisher reads `storingAwaited`
///   and resumes the waiter. While both may run, the waiter writes only ``Content/waiter`` and the finisher only
///   ``Content/outcome``.
/// - *A late id meets a slot that serves another call.* The use is part of the word, and no use repeats, so every
///   exchange fails. ``owner`` is written before the use is published and read after it: a thread that reads the owner
///   of another use also reads that the state has changed, and tries again.
/// - *A plugin completes a call that the host gives up.* The host gives the call up and notes it in one step, under the
///   lock of ``OperationTable``'s given-up calls. A completion that comes too late looks there under the same lock, and
///   so never between the two.
@safe
package struct OperationSlot: ~Copyable {
    /// The suspended waiter, resumed with the outcome.
    package typealias Waiter = UnsafeContinuation<OperationTable.Outcome, Never>

    /// The current use of the slot, and the stage of its call.
    package let state = Atomic(State(use: 0, stage: .free))
    /// The instance that may complete the call.
    package let owner = Atomic<UInt64>(0)
    /// The fields that one thread owns at a time.
    ///
    /// They are stored outside the slot: mutating one field of a struct in place is an exclusive access to all of it,
    /// while others read ``state``. Read the pointer into a variable first: ThreadSanitizer takes an expression that
    /// begins with the slot for a mutation of the slot.
    package let content: UnsafeMutablePointer<Content>

    /// The observer flag, outcome and waiter of a call.
    @safe
    package struct Content {
        /// Whether the caller observes progress.
        package var isObserved = false
        /// The outcome, once it is stored.
        package var outcome: OperationTable.Outcome?
        /// The waiter for the outcome.
        package var waiter: Waiter?
    }

    /// Creates a free slot.
    package init(content: UnsafeMutablePointer<Content>) {
        unsafe self.content = content
    }

    /// The stage of a call.
    package enum Stage: UInt64 {
        case free
        /// Pending, without a waiter.
        case begun
        /// Pending, with a waiter to resume.
        case awaited
        /// The outcome is being stored, without a waiter.
        case storing
        /// The outcome is being stored, and a waiter has arrived; the finisher resumes it.
        case storingAwaited
        /// The outcome is stored.
        case stored

        /// Whether the call can still be completed or given up.
        package var isPending: Bool { self == .begun || self == .awaited }
    }

    /// A use and a stage in one word.
    package struct State: RawRepresentable, AtomicRepresentable, Equatable {
        package let rawValue: UInt64

        /// The bits of the stage.
        private static let mask: UInt64 = 7

        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package init(use: UInt64, stage: Stage) { rawValue = use << 3 | stage.rawValue }

        /// The number of this use of the slot, from 1.
        package var use: UInt64 { rawValue >> 3 }

        /// The stage of this use's call.
        package var stage: Stage { Stage(rawValue: rawValue & Self.mask) ?? .free }

        /// The same use at another stage.
        package func at(_ stage: Stage) -> State { State(rawValue: rawValue & ~Self.mask | stage.rawValue) }
    }
}
