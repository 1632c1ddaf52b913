// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// Storing messages, and deleting settled ones, which makes room for them.
extension NATSEngine {
    /// Stores messages. If there is no room for them, deletes everything that is settled, and tries once more.
    func publish(_ messages: [JetStream.Message]) async throws(ConnectorError) -> [Bool] {
        try await jetStream.publish(messages) { await makeRoom() }
    }

    /// Deletes everything that is settled; callers that need room at one time share one trim. If nothing is left to delete, another
    /// caller or another host may have made the room.
    private func makeRoom() async {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard !state.isClosing else { return nil }
            if let task = state.clearing { return task }
            let trimming = state.trimming
            let task = Task { [weak self, schema] in
                // One trim at a time: the second one would take the first for another host's.
                await trimming?.value
                let failure = await Self.trim(schema, keeping: 0)
                self?.noteTrim(failure)
                self?.state.withLock { $0.clearing = nil }
            }
            state.clearing = task
            return task
        }
        await task?.value
    }

    /// Tells that the stream can no longer be trimmed, or can be again.
    private func noteTrim(_ failure: ConnectorError?) {
        let isOther = state.withLock { state in
            defer { state.cannotTrim = failure != nil }
            return !state.isClosing && state.cannotTrim != (failure != nil)
        }
        if isOther { onTrim(failure) }
    }

    /// Trims the stream.
    ///
    /// - Returns: Why it failed; nil if it did not.
    private static func trim(_ schema: NATSSchema, keeping count: Int) async -> ConnectorError? {
        do throws(ConnectorError) {
            try await schema.trim(keeping: count)
            return nil
        } catch {
            return error
        }
    }

    /// Trims the stream in the background, every ``remembered`` settled events. Events that stay longer are harmless, so failures are
    /// only told.
    func trimIfDue(_ settled: Int) {
        state.withLock { state in
            state.untrimmed += settled
            guard state.trimming == nil, state.isTrimDue else { return }
            state.trimming = Task { [weak self, schema] in
                while self?.beginTrim() == true {
                    let failure = await Self.trim(schema, keeping: Self.remembered)
                    self?.noteTrim(failure)
                }
            }
        }
    }

    /// Starts the next trim if it is due.
    ///
    /// - Returns: Whether to trim.
    private func beginTrim() -> Bool {
        state.withLock { state in
            guard state.isTrimDue else {
                state.trimming = nil
                return false
            }
            state.untrimmed %= Self.remembered
            return true
        }
    }

    /// The number of settled events that stay in the stream, so that they can still be looked up.
    static let remembered = 1000
}
