// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// When a call that is safe to repeat is made again after an error that may pass: three times at most, all within the time of one call.
///
/// Something that is missing does not come back by itself, and a gateway's limit stays, unless it says how long to wait.
package struct CallRepetition: Sendable {
    /// What an error says about the next attempt.
    package struct Failure: Sendable {
        private let mayPass: Bool
        fileprivate let retryAfter: Duration?

        /// Creates it from an error's fields.
        package init(code: ConnectorError.Code?, isRetryable: Bool, retryAfter: Duration?) {
            mayPass =
                switch code {
                case .missing: false
                case .tooLarge: isRetryable && retryAfter != nil
                default: isRetryable
                }
            self.retryAfter = retryAfter
        }

        /// The wait before the next attempt, unless the error says how long to wait; nil if there is to be none.
        fileprivate func pause(after attempts: Int) -> Duration? {
            mayPass ? retryAfter ?? CallRepetition.pauses.bound(after: attempts) : nil
        }
    }

    private static let attemptLimit = 3
    private static let pauses = Backoff(initial: .milliseconds(500), maximum: .seconds(1))

    private let end: UInt64
    private var attempts = 0

    /// Begins with the first attempt; all of them end at this time of the clock that the caller passes, in nanoseconds.
    package init(until end: UInt64) { self.end = end }

    /// The wait before the next attempt, counting one more failed one; nil if the failure is final.
    package mutating func pause(after failure: Failure, now: UInt64) -> Duration? {
        attempts += 1
        guard attempts < Self.attemptLimit, let pause = failure.pause(after: attempts),
            now.saturatingAdding(pause.nanoseconds) < end
        else { return nil }
        return pause
    }

    /// The time that is left for the next attempt, in nanoseconds; nil if there is none.
    package func rest(now: UInt64) -> UInt64? { now < end ? end - now : nil }
}
