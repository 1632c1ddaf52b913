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
                let result = await Self.trim(schema, keeping: 0)
                self?.noteTrim(result, keeping: 0)
                self?.state.withLock { $0.clearing = nil }
            }
            state.clearing = task
            return task
        }
        await task?.value
    }

    /// Tells that the stream can no longer be trimmed, or can be again.
    private func noteTrim(_ result: Result<Bool, ConnectorError>, keeping count: Int) {
        let failure: ConnectorError? = if case .failure(let error) = result { error } else { nil }
        let isOther = state.withLock { state in
            // That there was nothing to delete says nothing about a trim that was to keep less, and failed.
            if case .success(false) = result, let failed = state.failedTrim, failed < count { return false }
            defer { state.failedTrim = failure == nil ? nil : min(count, state.failedTrim ?? count) }
            return !state.isClosing && (state.failedTrim == nil) != (failure == nil)
        }
        if isOther { onTrim(failure) }
    }

    /// Trims the stream.
    ///
    /// - Returns: Whether there was anything to delete.
    private static func trim(_ schema: NATSSchema, keeping count: Int) async -> Result<Bool, ConnectorError> {
        do throws(ConnectorError) {
            return .success(try await schema.trim(keeping: count))
        } catch {
            return .failure(error)
        }
    }

    /// Trims the stream in the background, every ``remembered`` settled events. Events that stay longer are harmless, so failures are
    /// only logged.
    func trimIfDue(_ settled: Int) {
        state.withLock { state in
            state.untrimmed += settled
            guard state.trimming == nil, state.isTrimDue else { return }
            state.trimming = trimming()
        }
    }

    /// Repeats a trim that failed, in the background: the reason may be gone, such as a permission that the user lacked.
    func repeatTrim() {
        state.withLock { state in
            guard let count = state.failedTrim, state.trimming == nil, state.clearing == nil, !state.isClosing else {
                return
            }
            state.trimming = trimming(repeating: count)
        }
    }

    /// Trims in the background as long as it is due.
    ///
    /// - Parameter failed: How many events an earlier trim was to keep, which failed, and is repeated first; nil for none.
    private func trimming(repeating failed: Int? = nil) -> Task<Void, Never> {
        Task { [weak self, schema] in
            if let failed {
                let result = await Self.trim(schema, keeping: failed)
                self?.noteTrim(result, keeping: failed)
            }
            while self?.beginTrim() == true {
                let result = await Self.trim(schema, keeping: Self.remembered)
                self?.noteTrim(result, keeping: Self.remembered)
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
