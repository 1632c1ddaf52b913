// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A handle on a call, to await it, cancel it or drop it.
///
/// Dropping the handle does not cancel the call.
public struct CallHandle<Value: Sendable>: Sendable {
    /// The call itself up to its completion; nil when it was ignored.
    private let call: Task<CompletedCall<Value>, Never>?

    /// The calls that follow it; nil when there are none.
    private let following: Task<Void, Never>?

    /// Wraps a call, or the fact that it was ignored.
    init(_ call: Task<CompletedCall<Value>, Never>?, following: Task<Void, Never>? = nil) {
        self.call = call
        self.following = following
    }

    /// Whether the policy ignored the call: it never runs, and its observers are never called.
    public var isIgnored: Bool { call == nil }

    /// The value of the call, available once its completion observers have returned.
    ///
    /// Cancelling the awaiting task does not cancel the call.
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
    /// Cancels the provider's task. Once the provider has returned, the call fails with `CancellationError`, whatever
    /// the provider returned. A call that has not started yet ends immediately. Cancelling twice, or after the end, has no
    /// effect.
    public func cancel() {
        call?.cancel()
        following?.cancel()
    }

    /// Awaits the completion of the call and of every call that follows it.
    public func finish() async {
        _ = await call?.value
        await following?.value
    }
}

/// A call that was made, whatever the type of its value.
protocol StartedCall: Sendable {
    /// Cancels the call, and the calls that follow it.
    func cancel()

    /// Awaits the completion of the call and of every call that follows it.
    func finish() async
}

extension CallHandle: StartedCall {}
