// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Calls that are safe to repeat.
extension ClientTarget {
    /// How often such a call is made at most.
    private static let attemptLimit = 3
    /// The waits between the attempts, unless an error says how long to wait.
    private static let pauses = Backoff(initial: .milliseconds(500), maximum: .seconds(1))

    /// Makes a call, and repeats it while it fails with an error that may pass: three times at most, all within the timeout of one call.
    ///
    /// Something that is missing does not come back by itself, and a gateway's limit stays, unless it says how long to wait.
    ///
    /// - Parameter call: The call, with its share of the time. Whoever repeats it must not do twice what it did once.
    /// - Throws: The last error; `cancelled` if the task is cancelled during a wait.
    func repeating<Value>(
        _ options: CallOptions,
        _ call: (CallOptions) async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        let end = end(of: options)
        var (rest, attempts) = (options, 0)
        var last: ConnectorError?
        while true {
            do throws(ConnectorError) {
                return try await call(rest)
            } catch {
                attempts += 1
                if error.code == .missing, let last {
                    // What the call needs has ended with the attempt before, which has the reason.
                    var error = error
                    error.message += "; the attempt before failed: \(last.message)"
                    throw error
                }
                let pause = (error.retryAfter ?? Self.pauses.bound(after: attempts)).nanoseconds
                guard attempts < Self.attemptLimit, Self.mayPass(error),
                    clock.now().saturatingAdding(pause) < end
                else { throw error }
                try await wait(pause)
                let now = clock.now()
                guard now < end else { throw error }
                last = error
                rest.timeoutNanoseconds = end - now
            }
        }
    }

    /// Whether the same call may succeed a moment later.
    private static func mayPass(_ error: ConnectorError) -> Bool {
        switch error.code {
        case .missing: false
        case .tooLarge: error.isRetryable && error.retryAfter != nil
        default: error.isRetryable
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
