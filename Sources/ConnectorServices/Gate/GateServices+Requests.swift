// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorPlatform
internal import Synchronization

extension GateServices {
    /// Sends a request under an existing id, and completes it with a callback.
    ///
    /// - Parameter silence: The longest wait for a part of the response, in nanoseconds; 0 for no limit, nil if the
    ///   response comes whole.
    package func startRequest(
        _ id: UInt64,
        _ request: RequestTemplate,
        _ callback: RequestCallback,
        silence: UInt64? = nil
    ) throws(ServiceFailure) {
        // Without a timer, a request might never complete.
        guard host.clock.prepare() else { throw .unavailable("the system cannot create a thread for timers") }
        let network = try host.http.network(of: context.path, for: connections)
        var outgoing = try outgoing(request, isInParts: silence != nil)
        let span = RequestSpan(request, to: outgoing.url, context)
        if context.propagatesTrace { span?.inject(into: &outgoing.headers) }
        let now = host.clock.now()
        let cached = silence == nil ? cached(outgoing, at: now) : .bypass
        if case .stale(_, let conditions) = cached { outgoing.conditions = conditions }
        let sent = outgoing
        let recorder = recorder(of: request, isInParts: silence != nil)
        let exchange = exchange(of: id, sent, request, isInParts: silence != nil, recorder, on: network)
        // `.max` is CONNECTOR_NO_DEADLINE, a macro that Swift does not import.
        let deadline = request.deadline == .max ? nil : request.deadline
        let outer = request.during == 0 ? nil : request.during
        try register(
            id,
            RequestInFlight(
                callback: callback,
                exchange: exchange,
                span: span,
                trace: TraceContext.current,
                outer: outer,
                begun: now,
                recorder: recorder,
                bodySize: sent.body.count,
                deadline: deadline,
                isTimedToBegin: silence != nil && deadline == nil,
                silence: silence ?? 0
            )
        )
        // `cancelCalls` may have run before this request was registered.
        if let outer, OperationTable.shared.wasGivenUp(outer) { cancelCalls(during: outer) }

        let delay = deadline.map { $0 > now ? $0 - now : 0 } ?? host.options.http.requestTimeout.nanoseconds
        // A late request is not sent: the plugin may already assume that it failed.
        guard delay > 0 else { return completeRecorded(id, .failure(.notSent(to: exchange.authority)), recorder) }
        guard setTimer(of: id, exchange, recorder, after: delay) else { return }
        if case .fresh(let response) = cached {
            countCached()
            return completeRequest(id, .success(response))
        }
        exchange.start { outcome in
            self.count(outcome)
            self.completeRecorded(id, self.received(outcome, of: sent, cached), recorder)
        }
    }

    /// A plugin's request as it is sent, with its secrets; throws if it may not be.
    private func outgoing(_ request: RequestTemplate, isInParts: Bool) throws(ServiceFailure) -> OutgoingRequest {
        var outgoing = try OutgoingRequest(
            request,
            options: host.options.http,
            accepting: isInParts ? "identity" : "gzip",
            secret: context.secret
        )
        guard !outgoing.isBodyInParts || isInParts else {
            throw .misuse("a body in parts is for `stream`, not for `request`")
        }
        try egress.check(outgoing.url, named: outgoing.namedURL)
        if let name = context.vendor?.name { outgoing.headers[HTTPFields.recording] = name }
        return outgoing
    }

    /// What the cache has for a request.
    private func cached(_ request: OutgoingRequest, at now: UInt64) -> HTTPCache.Lookup {
        guard context.cacheBytes > 0 else { return .bypass }
        // Evidence comes from the vendor, and not from memory.
        let isProof = state.withLock { $0.proofs > 0 }
        return cache.withLock { $0.lookup(request, now: now, mustRevalidate: isProof) }
    }

    /// Makes the exchange of a request, without sending anything.
    private func exchange(
        of id: UInt64,
        _ outgoing: OutgoingRequest,
        _ request: RequestTemplate,
        isInParts: Bool,
        _ recorder: RequestRecorder?,
        on network: GateNetwork
    ) -> HTTPExchange {
        var body: BodyParts?
        if outgoing.isBodyInParts {
            let record = recorder.map { recorder in
                { @Sendable (part: [UInt8], isLast: Bool) in recorder.addSent(part, isLast: isLast) }
            }
            body = BodyParts(length: request.length, sending: record, held: bodies) {
                self.bodyHasProgressed(of: id, isLast: $0)
            }
        }
        var parts: ResponseParts?
        if isInParts {
            parts = ResponseParts(method: outgoing.method, body: body) { part in
                recorder?.parts?.add(part)
                self.receivePart(id, part)
            }
        }
        return HTTPExchange(
            outgoing,
            egress: egress,
            transport: host.http,
            connections: connections,
            network: network,
            body: body,
            parts: parts,
            responses: responses,
            workers: host.callbacks
        )
    }

    /// Counts a request among those in progress, or refuses it, which ends its span.
    private func register(_ id: UInt64, _ request: RequestInFlight) throws(ServiceFailure) {
        let limit = host.options.http.concurrencyLimit
        do throws(ServiceFailure) {
            try state.withLock { state throws(ServiceFailure) in
                guard !state.isStopped else { throw .notOpen }
                guard state.requests.count < limit else {
                    throw ServiceFailure(
                        status: Int32(CONNECTOR_RATE_LIMITED),
                        message: "\(limit) requests of this connector are already in progress",
                        isRetryable: true
                    )
                }
                try bodies.take(request.bodySize)
                state.requests[id] = request
                state.counters.requests += 1
            }
        } catch {
            request.span?.end(.failure(error))
            throw error
        }
    }

    /// Ends a request after a time.
    ///
    /// - Returns: False if it has ended already.
    private func setTimer(
        of id: UInt64,
        _ exchange: HTTPExchange,
        _ recorder: RequestRecorder?,
        after delay: UInt64
    ) -> Bool {
        let timer = host.clock.schedule(after: delay) {
            self.completeRecorded(id, .failure(exchange.lateness), recorder)
        }
        let isUnderWay = state.withLock { state in
            guard state.requests[id] != nil else { return false }
            state.requests[id]?.timer = timer
            return true
        }
        if !isUnderWay { host.clock.cancel(timer) }
        return isUnderWay
    }

    /// What the plugin gets: a response, perhaps from the cache, or why it gets none.
    private func received(
        _ outcome: HTTPExchange.Outcome,
        of request: OutgoingRequest,
        _ cached: HTTPCache.Lookup
    ) -> Result<HTTPResponse, ServiceFailure> {
        if let refusal = (try? outcome.result.get()).flatMap(self.refusal) { return .failure(refusal) }
        return context.cacheBytes > 0 ? remember(outcome, of: request, cached) : outcome.result
    }

    /// Completes a request, at most once: the response, the deadline, the plugin and the closing gate race to complete
    /// it.
    package func completeRequest(_ id: UInt64, _ result: Result<HTTPResponse, ServiceFailure>) {
        let now = host.clock.now()
        // Remove the request and queue its callback in one step, so that a closing gate always sees one of them.
        let (request, isIdle) = state.withLock { state -> (RequestInFlight?, Bool) in
            guard let request = state.requests.removeValue(forKey: id) else { return (nil, false) }
            bodies.giveBack(request.bodySize)
            switch result {
            case .success(let reply): state.counters.lastStatus = UInt32(clamping: reply.status)
            case .failure(let failure):
                state.counters.failures += 1
                state.late.add(request.served, failure, at: now)
            }
            return (request, state.callbacks.append { request.end(result) })
        }
        guard let request else { return }
        for case let timer? in [request.timer, request.silenceTimer] { host.clock.cancel(timer) }
        request.exchange.cancel()
        if isIdle { startCallbacks() }
    }

    /// Completes a request that the host gives up, because the call that it serves is. Must not block.
    ///
    /// A recording has no answer to it, and not what has arrived of one, unless the vendor had all the time that the plugin gave it.
    func giveUpRequest(_ id: UInt64, _ failure: ServiceFailure) {
        guard let request = state.withLock({ $0.requests[id] }) else { return }
        guard let recorder = request.recorder else { return completeRequest(id, .failure(failure)) }
        guard let deadline = request.deadline, deadline <= host.clock.now() else {
            recorder.leaveOut()
            return completeRequest(id, .failure(failure))
        }
        // Writing would block.
        host.callbacks.run {
            recorder.end(.failure(request.exchange.lateness))
            self.completeRequest(id, .failure(failure))
        }
    }

    /// Sends the next part of a body.
    package func writeRequest(_ id: UInt64, _ part: [UInt8], isLast: Bool) throws(ServiceFailure) {
        guard let request = state.withLock({ $0.requests[id] }) else { throw .ended }
        try request.exchange.write(part, isLast: isLast)
    }

    /// Tells the plugin that there is room for the next part of a body, and restarts the host's own deadline.
    private func bodyHasProgressed(of id: UInt64, isLast: Bool) {
        renewTimer(of: id)
        guard !isLast else { return }
        let isIdle = state.withLock { state in
            guard let request = state.requests[id] else { return false }
            return state.callbacks.append { request.trace.run { request.callback.callRoom() } }
        }
        if isIdle { startCallbacks() }
    }

    /// Restarts the host's own deadline, or cancels it once the body is sent and the response has begun.
    private func renewTimer(of id: UInt64) {
        guard let request = state.withLock({ $0.requests[id] }), request.isTimedToBegin else { return }
        let new = host.clock.schedule(after: host.options.http.requestTimeout.nanoseconds) {
            self.completeRecorded(id, .failure(request.exchange.lateness), request.recorder)
        }
        let unwanted = state.withLock { state -> [HostTimer] in
            // The deadline or the request may have ended meanwhile.
            guard let request = state.requests[id], let old = request.timer else { return [new] }
            let isOver = request.hasBegun && !request.exchange.isBodyOpen
            state.requests[id]?.timer = isOver ? nil : new
            return isOver ? [old, new] : [old]
        }
        for timer in unwanted { host.clock.cancel(timer) }
    }

    /// Asks for the next part of a response, and limits the wait for it.
    package func resumeRequest(_ id: UInt64) {
        guard let request = state.withLock({ $0.requests[id] }) else { return }
        if request.silence > 0, request.silenceTimer == nil {
            let limit = Duration.nanoseconds(Int64(clamping: request.silence)).brief
            let timer = host.clock.schedule(after: request.silence) {
                self.completeRecorded(
                    id,
                    .failure(.timedOut("the server sent nothing for \(limit)")),
                    request.recorder
                )
            }
            let isFirst = state.withLock { state in
                guard let request = state.requests[id], request.silenceTimer == nil else { return false }
                state.requests[id]?.silenceTimer = timer
                return true
            }
            if !isFirst { host.clock.cancel(timer) }
        }
        request.exchange.resume()
    }

    /// Delivers a part of a response, unless the request has completed.
    private func receivePart(_ id: UInt64, _ part: HTTPResponse) {
        var part = part
        if let refusal = refusal(by: part) {
            // A failure after a beginning comes with the end of the response.
            guard let beginning = part.beginning else { return completeRequest(id, .failure(refusal)) }
            part = beginning
        }
        let received = part
        let (isIdle, timers, isBodyOpen) = state.withLock { state -> (Bool, [HostTimer?], Bool) in
            guard let request = state.requests[id] else { return (false, [], false) }
            state.counters.bytesReceived += UInt64(received.body.count)
            state.requests[id]?.silenceTimer = nil
            state.requests[id]?.hasBegun = true
            let isBodyOpen = request.exchange.isBodyOpen
            let isOver = request.isTimedToBegin && !isBodyOpen
            if isOver { state.requests[id]?.timer = nil }
            let isIdle = state.callbacks.append { request.trace.run { request.callback.call(part: received) } }
            return (isIdle, [request.silenceTimer, isOver ? request.timer : nil], isBodyOpen)
        }
        for case let timer? in timers { host.clock.cancel(timer) }
        if isBodyOpen { renewTimer(of: id) }
        if isIdle { startCallbacks() }
    }

    /// Forgets what requests may have changed (RFC 9111, section 4.4), and stores a response that may be reused, or returns the stored one
    /// that the server has confirmed.
    private func remember(
        _ outcome: HTTPExchange.Outcome,
        of request: OutgoingRequest,
        _ cached: HTTPCache.Lookup
    ) -> Result<HTTPResponse, ServiceFailure> {
        if !outcome.changed.isEmpty {
            cache.withLock { cache in
                for url in outcome.changed { cache.forget(url) }
            }
        }
        guard case .success(let reply) = outcome.result else { return outcome.result }
        let (now, wallTime) = (host.clock.now(), host.clock.wallTime())
        switch cached {
        case .stale(let response, _) where reply.status == 304 && !outcome.isRedirected:
            countCached()
            let confirmed = cache.withLock { cache in
                cache.confirm(response, by: reply, of: request, now: now, wallTime: wallTime)
            }
            return .success(confirmed)
        case .miss where !outcome.isRedirected, .stale where !outcome.isRedirected:
            cache.withLock { $0.store(reply, to: request, now: now, wallTime: wallTime) }
        default: break
        }
        return outcome.result
    }

    private func countCached() {
        state.withLock { $0.counters.cached += 1 }
    }

    private func count(_ outcome: HTTPExchange.Outcome) {
        state.withLock { state in
            state.counters.bytesSent += outcome.bytesSent
            state.counters.bytesReceived += outcome.bytesReceived
        }
    }
}
