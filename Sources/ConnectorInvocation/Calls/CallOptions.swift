// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// How one call behaves.
public struct CallOptions: Sendable {
    /// After this the call fails with `timed-out`, and the plugin is told to stop; at least 0, in steps of a nanosecond.
    ///
    /// Counts from the call to its completion: the wait for a turn on a `serial` gate, and whatever the adapter does, retries
    /// included. A function that answers at once is not interrupted; its caller only waits so long for its turn.
    public var timeout: Duration {
        get { .nanoseconds(Int64(clamping: timeoutNanoseconds)) }
        set { timeoutNanoseconds = newValue.nanoseconds }
    }
    /// Told how far an asynchronous operation is, on a thread of the plugin.
    public var onProgress: (@Sendable (JSONValue) -> Void)?

    /// Counted once, where it is set: dividing the attoseconds of a `Duration` takes as long as a call.
    package var timeoutNanoseconds: UInt64 = 30_000_000_000

    /// Thirty seconds, and nobody asks how far it is.
    public init() {}

    /// - Parameters:
    ///   - timeout: After this the call fails with `timed-out`.
    ///   - onProgress: Told how far an asynchronous operation is, on a thread of the plugin.
    public init(timeout: Duration = .seconds(30), onProgress: (@Sendable (JSONValue) -> Void)? = nil) {
        self.onProgress = onProgress
        self.timeout = timeout
    }
}
