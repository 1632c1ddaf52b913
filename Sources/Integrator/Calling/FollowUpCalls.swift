// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The calls that follow a call.
struct FollowUpCalls<Value: Sendable>: Sendable {
    /// Starts a call, or returns nil when the outcome is not the one it is tied to.
    typealias Next = @Sendable (Result<Value, any Error>) -> (any StartedCall)?

    /// Repeats the call on another call flow; a struct because a type alias cannot refer to itself.
    struct Recall: Sendable {
        /// Starts it with the same observers and the remaining recalls.
        let start: @Sendable (Observers<Value>, _ remaining: ArraySlice<Recall>) -> any StartedCall
    }

    /// Calls tied to success or failure.
    var afterOutcome: [Next] = []

    /// Calls tied to completion.
    var afterCompletion: [Next] = []

    /// Calls with the same observers, one after the other.
    var recalls: ArraySlice<Recall> = []

    /// Whether nothing follows.
    var isEmpty: Bool {
        afterOutcome.isEmpty && afterCompletion.isEmpty && recalls.isEmpty
    }

    /// Starts the calls that follow a call with this result, and awaits them all.
    ///
    /// Cancelling the task cancels the started calls.
    func run(after result: Result<Value, any Error>, observers: Observers<Value>) async {
        var calls = (afterOutcome + afterCompletion).compactMap { $0(result) }
        if let recall = recalls.first { calls.append(recall.start(observers, recalls.dropFirst())) }
        let started = calls
        await withTaskCancellationHandler {
            for call in started { await call.finish() }
        } onCancel: {
            for call in started { call.cancel() }
        }
    }
}
