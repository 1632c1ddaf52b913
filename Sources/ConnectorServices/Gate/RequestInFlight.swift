// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorInvocation
package import ConnectorPlatform

/// A plugin's request that has not completed.
package struct RequestInFlight: Sendable {
    /// The callback to run.
    package var callback: RequestCallback
    /// The exchange that sends the request.
    package var exchange: HTTPExchange
    /// The request's span; nil without a tracer.
    package var span: RequestSpan?
    /// The trace in which the plugin sent the request and in which the callback runs.
    package var trace: TraceContext
    /// The plugin's own call that this request serves; nil for none.
    package var outer: UInt64?
    /// When it began, in monotonic nanoseconds.
    package var begun: UInt64
    /// The request's recorder; nil if the gate is not recorded.
    package var recorder: RequestRecorder?
    /// The size of the body, in bytes; 0 if it comes in parts.
    package var bodySize = 0
    /// The deadline's timer; nil while the request is being started. If the plugin set no deadline, it is also nil once
    /// a response in parts has begun and the request's body is sent.
    package var timer: HostTimer?
    /// The deadline that the plugin set, in monotonic nanoseconds; nil for none.
    package var deadline: UInt64?
    /// Whether the deadline is the host's own, which covers the request's body and the beginning of a response in
    /// parts.
    package var isTimedToBegin = false
    /// Whether a response in parts has begun.
    package var hasBegun = false
    /// The longest wait for a part, in nanoseconds; 0 for no limit.
    package var silence: UInt64 = 0
    /// The timer of that wait.
    package var silenceTimer: HostTimer?
}

extension RequestInFlight {
    /// The operation that it serves.
    var served: ServedOperation {
        ServedOperation(named: outer, running: trace.operation, begun: begun, deadline: deadline)
    }

    /// Ends the span and runs the callback, on a callback thread.
    func end(_ result: Result<HTTPResponse, ServiceFailure>) {
        span?.end(result)
        trace.run { callback.call(result) }
    }
}
