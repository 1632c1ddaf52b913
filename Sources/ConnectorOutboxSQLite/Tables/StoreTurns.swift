// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// Numbers the transactions that change a store, in their order, whichever process and whichever file they belong to.
///
/// Within one file the number is stored with each change, so every reader knows exactly which changes it sees. A file that takes
/// another's place may count from a lower number; the files' own numbers come first in a turn, so turns never go back.
final class StoreTurns: Sendable {
    private struct State {
        /// The file in use.
        var file: FileID?
        /// How many files were in use.
        var files: UInt64 = 0
        /// The file whose turns `own` lists.
        var epoch: UInt64 = 0
        /// The turns of this process, in order; those that follow each other are one range.
        var own: [ClosedRange<UInt64>] = []
        /// How many turns of this process lie before these.
        var before: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The bits of a turn that number the transaction in its file.
    private static let bits: UInt64 = 44
    /// What a file's own turns can be.
    static let range: ClosedRange<Int64> = 0...((1 << 43) - 1)
    /// The most ranges to remember: enough for a reader that lags behind.
    private static let limit = 1000

    /// The number of a file that was just opened; nil for memory.
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
    func committed(_ turn: UInt64, _ epoch: UInt64) {
        state.withLock { state in
            if epoch != state.epoch { (state.epoch, state.own, state.before) = (epoch, [], 0) }
            if let last = state.own.last, turn > last.lowerBound, turn == last.upperBound + 1 {
                state.own[state.own.count - 1] = last.lowerBound...turn
            } else {
                state.own.append(turn...turn)
            }
            if state.own.count > Self.limit { state.before += UInt64(state.own.removeFirst().count) }
        }
    }

    /// The number of a transaction among those of all files.
    func number(_ turn: UInt64, _ epoch: UInt64) -> UInt64 { epoch << Self.bits | turn }

    /// A number that changes whenever a reader sees a transaction more that is none of this process.
    func foreign(upTo turn: UInt64, _ epoch: UInt64) -> Int64 {
        let own = state.withLock { state in
            guard epoch == state.epoch else { return UInt64(0) }
            return state.own.reduce(state.before) { count, range in
                count + (turn < range.lowerBound ? 0 : min(turn, range.upperBound) - range.lowerBound + 1)
            }
        }
        return Int64(bitPattern: epoch << Self.bits) &+ Int64(bitPattern: turn &- own)
    }
}
