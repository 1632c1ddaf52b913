// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorPlatform
internal import Synchronization

/// The requests in progress that act on a host, such as calls. A host that stops lets them end, and refuses others.
package final class ControlActs: Sendable {
    /// One request, from its beginning until nothing refers to this: a stream does until it ends.
    final class Act: Sendable {
        private struct State {
            var cancel: (@Sendable () -> Void)?
            var isCut = false
        }

        private let acts: ControlActs
        private let number: UInt64
        private let state = Mutex(State())

        fileprivate init(_ number: UInt64, of acts: ControlActs) {
            self.acts = acts
            self.number = number
        }

        deinit { acts.remove(number) }

        /// Whether the host has stopped before the request ended.
        var isCut: Bool { state.withLock(\.isCut) }

        /// Runs a step in a task that ``cut()`` cancels, as does cancelling the caller's task.
        func run<Value: Sendable>(_ step: @escaping @Sendable () async -> Value) async -> Value {
            let task = Task { await step() }
            let isCut = state.withLock { state in
                state.cancel = { task.cancel() }
                return state.isCut
            }
            if isCut { task.cancel() }
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }

        /// Cancels the request.
        fileprivate func cut() {
            let cancel = state.withLock { state in
                state.isCut = true
                return state.cancel
            }
            cancel?()
        }
    }

    private struct Entry {
        weak var act: Act?
    }

    private struct State {
        var acts: [UInt64: Entry] = [:]
        var last: UInt64 = 0
        var isEnding = false
    }

    private let state = Mutex(State())
    private let ended = OneShot<Void>()

    /// How long requests that are cancelled have to respond.
    private static let patience: Duration = .seconds(1)

    /// Creates a list without a request.
    package init() {}

    /// Responds to a request that acts.
    ///
    /// - Throws: `not-open` if the host is stopping, or stops before the request has ended.
    func respond(
        _ step: @escaping @Sendable () async throws(ConnectorError) -> ServerResponse
    ) async throws(ConnectorError) -> ServerResponse {
        let act = try begin()
        let result = await act.run { () async -> Result<ServerResponse, ConnectorError> in
            do throws(ConnectorError) {
                return .success(try await step())
            } catch {
                return .failure(error)
            }
        }
        var response: ServerResponse
        switch result {
        case .success(let success): response = success
        case .failure(let error): throw error.code == .cancelled && act.isCut ? Self.cutError : error
        }
        guard case .stream(let write) = response.body else { return response }
        response.body = .stream { writer in
            let failure = await act.run { () async -> (any Error)? in
                do {
                    try await write(writer)
                    return nil
                } catch {
                    return error
                }
            }
            if let failure { throw failure }
        }
        return response
    }

    /// Refuses further requests, and waits until those in progress have ended. What has not by then is cancelled, and responds so.
    package func end(within limit: Duration) async {
        let isIdle = state.withLock { state in
            state.isEnding = true
            return state.acts.isEmpty
        }
        if isIdle { ended.send() }
        let clock = SystemHostClock()
        guard await ended.wait(for: limit, on: clock) == nil else { return }
        for act in state.withLock({ $0.acts.values.compactMap(\.act) }) { act.cut() }
        _ = await ended.wait(for: Self.patience, on: clock)
    }

    private func begin() throws(ConnectorError) -> Act {
        let act = state.withLock { state -> Act? in
            guard !state.isEnding else { return nil }
            state.last += 1
            let act = Act(state.last, of: self)
            state.acts[state.last] = Entry(act: act)
            return act
        }
        guard let act else {
            throw ConnectorError(.notOpen, "the host is stopping, and takes no more calls", isRetryable: true)
        }
        return act
    }

    private func remove(_ number: UInt64) {
        let isLast = state.withLock { state in
            state.acts[number] = nil
            return state.isEnding && state.acts.isEmpty
        }
        if isLast { ended.send() }
    }

    private static let cutError = ConnectorError(
        .notOpen,
        "the host has stopped before the call ended",
        fix: "check at the vendor what the call has done; --grace gives calls more time"
    )
}
