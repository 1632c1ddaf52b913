// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
package import ConnectorInvocation
package import ConnectorPlatform
internal import Synchronization

/// A plugin's request that has not completed.
package struct RequestInFlight: Sendable {
    /// The callback to run.
    package var callback: RequestCallback
    /// The exchange that sends the request.
    package var exchange: HTTPExchange
    /// The request's span; nil without a tracer.
    package var span: RequestSpan?
    /// The trace that the plugin sent it in, and in which its callback runs.
    package var trace: TraceContext
    /// The timer of the deadline; nil while the request is being started.
    package var timer: HostTimer?
}

extension RequestInFlight {
    /// Ends the span and runs the callback, on a callback thread.
    fileprivate func end(_ result: Result<HTTPResponse, ServiceFailure>) {
        span?.end(result)
        trace.run { callback.call(result) }
    }
}

extension GateServices {
    /// Sends a request under an existing id, and completes it with a callback.
    package func startRequest(
        _ id: UInt64,
        _ request: RequestTemplate,
        _ callback: RequestCallback
    ) throws(ServiceFailure) {
        // Without a timer, a request might never complete.
        guard host.clock.prepare() else { throw .unavailable("the system cannot create a thread for timers") }
        let options = host.options.http
        var outgoing = try OutgoingRequest(request, options: options, secret: context.secret)
        try egress.check(outgoing.url)
        let span = RequestSpan(request, to: outgoing.url, context)
        if context.propagatesTrace { span?.inject(into: &outgoing.headers) }
        let authority = outgoing.url.authority
        let trace = TraceContext.current
        let exchange = HTTPExchange(outgoing, egress: egress, transport: host.http, workers: host.callbacks)
        let refusal = state.withLock { state -> ServiceFailure? in
            guard !state.isStopped else { return .notOpen }
            guard state.requests.count < options.concurrencyLimit else {
                return ServiceFailure(
                    status: Int32(CONNECTOR_RATE_LIMITED),
                    message: "\(options.concurrencyLimit) requests of this connector are already in progress",
                    isRetryable: true
                )
            }
            state.requests[id] = RequestInFlight(callback: callback, exchange: exchange, span: span, trace: trace)
            state.counters.requests += 1
            return nil
        }
        if let refusal {
            span?.end(.failure(refusal))
            throw refusal
        }

        // `.max` is CONNECTOR_NO_DEADLINE, a macro that Swift does not import.
        let deadline = request.deadline == .max ? nil : request.deadline
        let now = host.clock.now()
        let delay = deadline.map { $0 > now ? $0 - now : 0 } ?? options.requestTimeout.nanoseconds
        let timer = host.clock.schedule(after: delay) {
            self.completeRequest(id, .failure(.timedOut("no answer from \(authority) in time")))
        }
        let isUnderWay = state.withLock { state in
            guard state.requests[id] != nil else { return false }
            state.requests[id]?.timer = timer
            return true
        }
        guard isUnderWay else {
            host.clock.cancel(timer)
            return
        }
        exchange.start { outcome in
            self.count(outcome)
            self.completeRequest(id, outcome.result)
        }
    }

    /// Completes a request, at most once: the response, the deadline, the plugin and the closing gate race to complete
    /// it.
    package func completeRequest(_ id: UInt64, _ result: Result<HTTPResponse, ServiceFailure>) {
        let result = result.mapError { $0.redacted(by: context.redactor) }
        // Remove the request and queue its callback in one step, so that a closing gate always sees one of them.
        let (request, isIdle) = state.withLock { state -> (RequestInFlight?, Bool) in
            guard let request = state.requests.removeValue(forKey: id) else { return (nil, false) }
            switch result {
            case .success(let reply): state.counters.lastStatus = UInt32(clamping: reply.status)
            case .failure: state.counters.failures += 1
            }
            return (request, state.queue { request.end(result) })
        }
        guard let request else { return }
        if let timer = request.timer { host.clock.cancel(timer) }
        request.exchange.cancel()
        if isIdle { startCallbacks() }
    }

    private func count(_ outcome: HTTPExchange.Outcome) {
        state.withLock { state in
            state.counters.bytesSent += outcome.bytesSent
            state.counters.bytesReceived += outcome.bytesReceived
        }
    }
}
