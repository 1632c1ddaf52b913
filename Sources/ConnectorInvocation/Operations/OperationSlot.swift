// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import Synchronization

/// One slot of an ``OperationTable``, which serves many calls over time, one at a time.
///
/// It takes no locks. A mutex at each of the three steps of a call makes a call that completes inline 40 % slower, and many
/// times slower with several threads in one gate. Instead, the word ``state`` contains the use and its stage, and every step is
/// one compare-and-exchange of it. If two threads attempt the same step, one succeeds:
///
/// | from | to | by the new owner of ``content`` |
/// |---|---|---|
/// | free | begun | the caller that took the slot and alone knows the id |
/// | begun | awaited | the waiter, which has stored itself in the content and now releases it |
/// | begun, awaited | storing | the finisher: the plugin, the deadline or the caller |
/// | storing | stored | the finisher, which has stored the outcome in the content and now releases it |
/// | storing | storingAwaited | the waiter, which arrived in between and releases the content |
/// | stored | free | the caller that takes the outcome |
/// | awaited → storing; storingAwaited | free | the finisher, which removes the waiter and resumes it last |
///
/// The races:
///
/// - *Two threads finish a call.* The exchange from a pending stage succeeds once. The other thread reads a stage that
///   is not pending.
/// - *One thread finishes a call while another begins to wait.* Before `storing`, one exchange comes first, and the other
///   thread sees it and retries. After it, the exchanges from `storing` to `stored` and to `storingAwaited`
///   exclude each other: either the waiter reads `stored` and takes the outcome, or the finisher reads `storingAwaited`
///   and resumes the waiter. While both may run, the waiter writes only ``Content/waiter`` and the finisher only
///   ``Content/outcome``.
/// - *A late id refers to a slot that serves another call.* The use is part of the word and never repeats, so every exchange
///   fails. ``owner`` is written before the use is published and read after it: a thread that reads the owner of another use
///   also reads that the state has changed, and retries.
/// - *A plugin completes a call while the host gives it up.* The host gives up the call and records it in one step, under the
///   lock of ``OperationTable``'s given-up calls. A completion that is too late looks there under the same lock, so never in
///   between.
@safe
package struct OperationSlot: ~Copyable {
    /// A suspended waiter, to resume with the outcome.
    package typealias Waiter = UnsafeContinuation<OperationTable.Outcome, Never>

    /// The current use of the slot and the stage of its call.
    package let state = Atomic(State(use: 0, stage: .free))
    /// The instance that may complete the call.
    package let owner = Atomic<UInt64>(0)
    /// The fields that one thread owns at a time.
    ///
    /// They are stored outside the slot, because mutating one field of a struct in place is an exclusive access to the whole
    /// struct while other threads read ``state``. Read the pointer into a variable first: ThreadSanitizer considers an expression
    /// that begins with the slot a mutation of the slot.
    package let content: UnsafeMutablePointer<Content>

    /// A call's observer flag, outcome and waiter.
    @safe
    package struct Content {
        /// Whether the caller observes progress.
        package var isObserved = false
        /// The outcome, once stored.
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
        /// The outcome is being stored, and the finisher must resume a waiter that has arrived.
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
