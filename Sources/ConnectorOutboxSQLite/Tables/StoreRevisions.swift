// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// Numbers the transactions that change a store, in order, across processes and replaced files.
///
/// Within one file the revision is stored with each change, in the column `turn`, so every reader knows exactly which changes it
/// sees. A file that replaces another may count from a lower number; the high bits of a revision number the files, so revisions
/// never decrease. Safe to use from any thread.
final class StoreRevisions: Sendable {
    private struct State {
        /// The file in use.
        var file: FileID?
        /// The number of files used so far.
        var files: UInt64 = 0
        /// The number of the file whose revisions are in `own`.
        var epoch: UInt64 = 0
        /// The revisions of this process, in order; consecutive ones form one range.
        var own: [ClosedRange<UInt64>] = []
        /// The number of earlier revisions of this process.
        var before: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of bits for the transaction's number within its file.
    private static let bits: UInt64 = 44
    /// The range of a revision within its file.
    static let range: ClosedRange<Int64> = 0...((1 << 43) - 1)
    /// The maximum number of ranges kept: enough for a reader that lags behind.
    private static let limit = 1000

    /// The number of a file that was just opened.
    ///
    /// - Parameter file: The file; nil for memory.
    func epoch(of file: FileID?) -> UInt64 {
        state.withLock { state in
            if state.files == 0 || state.file != file {
                state.file = file
                state.files += 1
            }
            return state.files
        }
    }

    /// Records a transaction of this process.
    func committed(_ revision: UInt64, _ epoch: UInt64) {
        state.withLock { state in
            if epoch != state.epoch { (state.epoch, state.own, state.before) = (epoch, [], 0) }
            if let last = state.own.last, revision == last.upperBound + 1 {
                state.own[state.own.count - 1] = last.lowerBound...revision
            } else {
                state.own.append(revision...revision)
            }
            if state.own.count > Self.limit { state.before += UInt64(state.own.removeFirst().count) }
        }
    }

    /// The number of a transaction, unique across files.
    func number(_ revision: UInt64, _ epoch: UInt64) -> UInt64 { epoch << Self.bits | revision }

    /// A version that changes whenever a reader sees another transaction of another process.
    func foreign(upTo revision: UInt64, _ epoch: UInt64) -> Int64 {
        let own = state.withLock { state in
            guard epoch == state.epoch else { return UInt64(0) }
            return state.own.reduce(state.before) { count, range in
                count + (revision < range.lowerBound ? 0 : min(revision, range.upperBound) - range.lowerBound + 1)
            }
        }
        return Int64(bitPattern: epoch << Self.bits) &+ Int64(bitPattern: revision &- own)
    }
}
