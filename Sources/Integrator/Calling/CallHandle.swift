// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A call that was made: to await, to cancel, or to forget.
///
/// Dropping the handle does not cancel the call.
public struct CallHandle<Value: Sendable>: Sendable {
    /// The call itself up to its completion; nil when it was ignored.
    private let call: Task<CallEnding<Value>, Never>?

    /// The calls that follow it; nil when there are none.
    private let following: Task<Void, Never>?

    /// Holds on to a call, or to the fact that it was ignored.
    init(_ call: Task<CallEnding<Value>, Never>?, following: Task<Void, Never>? = nil) {
        self.call = call
        self.following = following
    }

    /// Whether the policy ignored the call: it never runs and its observers hear nothing.
    public var isIgnored: Bool { call == nil }

    /// The value of the call, once its completion was observed.
    ///
    /// Cancelling the task that waits here does not cancel the call.
    ///
    /// - Throws: The error of the call, `CancellationError` when it was cancelled, ``IgnoredCallError`` when ignored.
    public var value: Value {
        get async throws {
            guard let call else { throw IgnoredCallError() }
            return try await call.value.result.get()
        }
    }

    /// Cancels the call, and the calls that follow it.
    ///
    /// The provider's task is cancelled; the call ends with `CancellationError` as its failure once the provider has
    /// returned, whatever it returns. A call that waits for its turn ends at once. Cancelling twice, or after the end,
    /// changes nothing.
    public func cancel() {
        call?.cancel()
        following?.cancel()
    }

    /// Waits until the call and every call that follows it have completed.
    public func finish() async {
        _ = await call?.value
        await following?.value
    }
}

/// Any call that was made, whatever its value.
protocol StartedCall: Sendable {
    /// Cancels the call, and the calls that follow it.
    func cancel()

    /// Waits until the call and every call that follows it have completed.
    func finish() async
}

extension CallHandle: StartedCall {}
