// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Options of one call.
public struct CallOptions: Sendable {
    /// The time after which the call fails with `timed-out` and the plugin is told to stop.
    ///
    /// With no time at all, such as the negative rest of a deadline that has passed, or if the time passes on the way to the plugin, the
    /// call fails before any plugin code runs. So does the call of a task that is cancelled already.
    ///
    /// It covers the whole call: the wait for a turn on a `serial` gate, all the adapter's work, including retries, and all the children
    /// of a composite. Calls by name end at that time, whatever the plugin does. Typed and prepared calls, and operations that the manifest
    /// marks as prompt, run on the caller's own thread: a function that blocks there holds its caller, too.
    public var timeout: Duration {
        get { .nanoseconds(Int64(clamping: timeoutNanoseconds)) }
        set { timeoutNanoseconds = newValue.nanoseconds }
    }
    /// Receives the progress of an asynchronous operation, on a thread of the plugin.
    public var onProgress: (@Sendable (JSONValue) -> Void)?

    /// The timeout in nanoseconds, converted when it is set: dividing a `Duration`'s attoseconds takes as long as a
    /// call.
    package var timeoutNanoseconds: UInt64 = 30_000_000_000

    /// Whether the call ends at its timeout even if its function is said to be prompt and blocks: it then never runs on the caller's
    /// thread. For callers that promise a time to their own callers, as the API does, and for calls that the host makes on its own:
    /// deliveries, calls for plugins that use gates, copies for a comparison. An event waits no longer for its outbox either.
    package var keepsTimeout = false

    /// Whether a plugin makes the call, through `gates/1`. Its error is not redacted: the plugin chose the arguments, and could learn from a
    /// mask which of them contain a secret of another connector.
    package var isForPlugin = false

    /// Creates options with a timeout of 30 seconds and no progress.
    public init() {}

    /// - Parameters:
    ///   - timeout: The time after which the call fails with `timed-out`.
    ///   - onProgress: Receives the progress of an asynchronous operation, on a thread of the plugin.
    public init(timeout: Duration = .seconds(30), onProgress: (@Sendable (JSONValue) -> Void)? = nil) {
        self.onProgress = onProgress
        self.timeout = timeout
    }
}

extension CallOptions {
    /// Checks that a call may begin: one without time, or of a cancelled task, ends before any plugin code runs.
    ///
    /// - Parameter connector: The connector's path, for the error; nil if the caller adds it.
    /// - Throws: `timed-out` or `cancelled`, with `sending` `no`.
    package func begin(_ operation: String, at connector: String? = nil) throws(ConnectorError) {
        guard timeoutNanoseconds == 0 || Task.isCancelled else { return }
        var error =
            timeoutNanoseconds == 0
            ? Self.noTime(for: operation) : ConnectorError(.cancelled, "\(operation) was cancelled before it began")
        error.sending = .no
        error.connector = connector
        throw error
    }

    /// The error of a call whose time was over before it began: no plugin code has run for it.
    ///
    /// - Parameter isRetryable: Whether the call had some time, so that the same call may succeed later.
    package static func noTime(for operation: String, isRetryable: Bool = false) -> ConnectorError {
        var error = ConnectorError(
            .timedOut,
            "the time of the call of \(operation) was over before it began",
            fix: "give the call a longer timeout",
            isRetryable: isRetryable
        )
        error.sending = .no
        return error
    }
}
