// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import Synchronization

/// One place in an ``OperationTable``: the call that it holds now, one of many over time.
///
/// Nothing here is locked: a mutex for each of the three steps of a call that completes inline makes the call 40 % slower, and
/// several threads in one gate many times that. Instead, ``standing`` is one word that names the use and its stage, and every
/// step is one compare-and-exchange of it, so that of two threads that want the same step one gets it:
///
/// | from | to | by whom, who then owns ``content`` |
/// |---|---|---|
/// | free | begun | who took the slot; nobody else knows the id yet |
/// | begun | awaited | the waiter, which has put itself into the content before and lets it go here |
/// | begun, awaited | ending | the one who ends the call: the plugin, its deadline or its caller |
/// | ending | ended | the one who ends it, with the outcome in the content, which it lets go here |
/// | ending | ending, awaited | the waiter, which came between these two and lets the content go here |
/// | ended | free | the one who asked for the outcome |
/// | awaited → ending; ending, awaited | free | the one who ends it, who takes the waiter out, and resumes it last |
///
/// Where two meet:
///
/// - *Two want to end a call.* The exchange from a pending stage succeeds once; the other one reads a stage that is not pending.
/// - *One ends it while another begins to wait.* Before `ending`, the waiter's exchange or the ender's comes first, and the other
///   one sees it and tries again. After it, the exchanges from `ending` to `ended` and to `endingAwaited` exclude each other:
///   either the waiter reads `ended` and takes the outcome, or the ender reads `endingAwaited` and resumes the waiter. The waiter
///   writes only ``Content/waiter`` and the ender only ``Content/outcome`` as long as both may run.
/// - *An id is used late, when the slot serves another call.* The use is part of the word, and no use comes twice, so every
///   exchange fails. ``owner`` is written before the use is published and read after it: who reads another use's owner also
///   reads that the standing has changed, and tries again.
/// - *A plugin completes what the host gives up.* The host ends the call and notes that in one step under the lock of
///   ``OperationTable``'s given-up calls; a completion that finds the call ended looks there under the same lock, so never
///   between the two.
@safe
package struct OperationSlot: ~Copyable {
    /// Suspended until the call ends.
    package typealias Waiter = UnsafeContinuation<OperationTable.Outcome, Never>

    /// Which use of the slot this is, and where its call stands.
    package let standing = Atomic(Standing(use: 0, stage: .free))
    /// The instance that may complete the call.
    package let owner = Atomic<UInt64>(0)
    /// What belongs to one at a time. Elsewhere: changing a part of a structure in place is an exclusive access to all of it,
    /// and others read the standing meanwhile. To be read into a variable first: ThreadSanitizer takes an expression that begins
    /// with the slot for a change of the slot.
    package let content: UnsafeMutablePointer<Content>

    /// What is known of a call besides where it stands.
    @safe
    package struct Content {
        /// Whether somebody wants to know how far the call is.
        package var isObserved = false
        /// How the call ended.
        package var outcome: OperationTable.Outcome?
        /// Who waits for that.
        package var waiter: Waiter?
    }

    /// A slot that is free.
    package init(content: UnsafeMutablePointer<Content>) {
        unsafe self.content = content
    }

    /// Where a call stands.
    package enum Stage: UInt64 {
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
        package var isPending: Bool { self == .begun || self == .awaited }
    }

    /// A use and a stage in one word.
    package struct Standing: RawRepresentable, AtomicRepresentable, Equatable {
        package let rawValue: UInt64

        /// The bits of the stage.
        private static let mask: UInt64 = 7

        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package init(use: UInt64, stage: Stage) { rawValue = use << 3 | stage.rawValue }

        /// How often the slot has been taken, from 1.
        package var use: UInt64 { rawValue >> 3 }

        /// Where the call of this use stands.
        package var stage: Stage { Stage(rawValue: rawValue & Self.mask) ?? .free }

        /// The same use at another stage.
        package func at(_ stage: Stage) -> Standing { Standing(rawValue: rawValue & ~Self.mask | stage.rawValue) }
    }
}
