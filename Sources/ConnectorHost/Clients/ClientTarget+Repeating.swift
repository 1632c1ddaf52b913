// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Calls that are safe to repeat.
extension ClientTarget {
    /// Makes a call, and repeats it while it fails with an error that may pass: see ``CallRepetition``.
    ///
    /// - Parameter call: The call, with its share of the time. Whoever repeats it must not do twice what it did once.
    /// - Throws: The last error; `cancelled` if the task is cancelled during a wait.
    func repeating<Value>(
        _ options: CallOptions,
        _ call: (CallOptions) async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        var repetition = CallRepetition(until: end(of: options))
        var rest = options
        var last: ConnectorError?
        while true {
            do throws(ConnectorError) {
                return try await call(rest)
            } catch {
                if error.code == .missing, let last {
                    // What the call needs has ended with the attempt before, which has the reason.
                    var error = error
                    error.message += "; the attempt before failed: \(last.message)"
                    throw error
                }
                let failure = CallRepetition.Failure(
                    code: error.code,
                    isRetryable: error.isRetryable,
                    retryAfter: error.retryAfter
                )
                guard let pause = repetition.pause(after: failure, now: clock.now()) else { throw error }
                try await wait(pause.nanoseconds)
                guard let time = repetition.rest(now: clock.now()) else { throw error }
                last = error
                rest.timeoutNanoseconds = time
            }
        }
    }

    /// Waits for some nanoseconds.
    private func wait(_ duration: UInt64) async throws(ConnectorError) {
        let isOver = OneShot<Void>()
        let timer = clock.schedule(after: duration) { isOver.send() }
        defer { clock.cancel(timer) }
        guard await isOver.waitUnlessCancelled() == nil else { return }
        throw ConnectorError(.cancelled, "the call was cancelled before it was repeated", connector: path)
    }
}
