// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform
internal import ConnectorServices
internal import Synchronization

/// Calls through the tree: a composite is called like a leaf, and its policy decides which children are called.
extension Node {
    /// One call of a connector.
    struct Call: Sendable {
        /// The operation's name.
        var operation: String
        /// The arguments.
        var arguments: CallArguments
        /// The timeout and other options.
        var options: CallOptions
        /// The number of events or reports in a batch, whose outcomes each leaf's answer must report; nil for any other call.
        var batchCount: Int?
        /// The outcomes of leaves that are below several composites with the policy `all`; nil outside such composites.
        var common: CommonOutcomes?
        /// Where a call that reached no leaf finds the connector that a reload has put in the place of a removed one;
        /// nil for a delivery, which is made again anyway.
        var tree: CurrentTree?

        /// Whether the outbox makes the call.
        var isDelivery: Bool { tree == nil }

        /// Creates the call of a client.
        init(operation: String, arguments: CallArguments, options: CallOptions, in tree: CurrentTree? = nil) {
            self.operation = operation
            self.arguments = arguments
            self.options = options
            self.tree = tree
        }

        /// The same call with the time that is left until its end; nil if none is left.
        ///
        /// Each child of a delivery has the whole timeout: the events would not get past one that hangs otherwise.
        func remaining(until end: UInt64, on clock: any HostClock) -> Call? {
            guard !isDelivery else { return self }
            let now = clock.now()
            guard now < end else { return nil }
            var call = self
            call.options.timeoutNanoseconds = end - now
            return call
        }

        /// The same call, made to reach each of these leaves only once.
        func calling(once leaves: Set<Int>) -> Call {
            guard common == nil, !leaves.isEmpty else { return self }
            var call = self
            call.common = CommonOutcomes(leaves)
            return call
        }
    }

    /// Calls an operation; counts, times and traces the call.
    ///
    /// - Parameter isChild: Whether a composite makes the call and may hide a failure from its own caller.
    func call(_ call: Call, isChild: Bool = false) async throws(ConnectorError) -> ConnectorAnswer {
        let start = tally.begin()
        let end = start.saturatingAdding(call.options.timeoutNanoseconds)
        let meter = unsafe meter(of: call.operation).takeUnretainedValue()
        do throws(ConnectorError) {
            let answer =
                if let span = CallSpan(of: path, meter.operation, isLeaf: gate != nil) {
                    try await span.run { () throws(ConnectorError) in try await answered(call, by: end) }
                } else {
                    try await answered(call, by: end)
                }
            tally.end(nil, of: meter, since: start)
            if gate != nil, answer.result.isPrompt { meter.isPrompt = true }
            return answer
        } catch {
            tally.end(error, of: meter, since: start)
            let shown = call.options.isForPlugin ? redacted(error) : error
            tally.fail(shown, of: call.operation, isHidden: isChild)
            throw error
        }
    }

    /// The error of a plugin's call without secrets, for the report and the log.
    private func redacted(_ error: ConnectorError) -> ConnectorError {
        leaves.first?.gate?.dependencies.redactor.redact(error) ?? error
    }

    /// Calls a leaf's operation that its manifest marks as `prompt`, on the caller's thread and without suspending.
    ///
    /// - Parameter bind: Sets the parameters.
    /// - Returns: Nil, without calling, for an operation that is not expected to be prompt, before anything is admitted; if it is not
    ///   prompt after all; if the gate cannot admit the call immediately; or while as many such calls as
    ///   ``PluginInstance/enterPromptly()`` lets in are inside the plugin.
    func callPromptly(
        _ operation: String,
        _ bind: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> JSONValue? {
        let meter = unsafe meter(of: operation)
        guard unsafe meter._withUnsafeGuaranteedRef({ $0.isPrompt }), watch?.isOn != true,
            let admission = rundown?.admitNow()
        else { return nil }
        guard let function = unsafe admission.promptOperation(named: operation) else {
            unsafe meter._withUnsafeGuaranteedRef { $0.isPrompt = false }
            return nil
        }
        guard admission.enterPromptly() else { return nil }
        let start = tally.begin()
        do throws(ConnectorError) {
            var answer: JSONValue?
            try admission.lend { instance throws(ConnectorError) in
                defer { instance.leavePromptly() }
                var isMade = false
                var failure: ConnectorError?
                do throws(ConnectorError) {
                    try unsafe PreparedCall.lend(function, on: instance) { call throws(ConnectorError) in
                        try bind(call)
                        isMade = call.isComplete
                        try call()
                        answer = try call.json()
                    }
                } catch {
                    failure = error
                }
                let time = unsafe meter._withUnsafeGuaranteedRef { tally.end(failure, of: $0, since: start) }
                // A function that fails holds its caller's thread just as long.
                if isMade { unsafe function._withUnsafeGuaranteedRef { instance.judge($0, took: time) } }
                if let failure { throw failure }
            }
            return answer
        } catch {
            let error = gate?.described(error) ?? error
            tally.fail(error, of: operation, isHidden: false)
            throw error
        }
    }

    private func meter(of operation: String) -> Unmanaged<CallMeter> {
        if let known = unsafe tally.meter(of: operation) { return unsafe known }
        let definition = definition(of: operation)
        let isPrompt = definition.map { $0.operation.isPrompt && !$0.operation.signature.isAsync } ?? false
        return unsafe tally.addMeter(
            of: operation,
            label: definition.map { capabilities.label(of: $0.operation.name, in: $0.capability.id) },
            isPrompt: isPrompt && gate != nil
        )
    }

    /// Calls the gate, or the children the policy selects. If a reload removed these before the call reached any, calls
    /// those that took their place.
    ///
    /// - Parameter end: The end of the call's timeout, in monotonic time.
    private func answered(_ call: Call, by end: UInt64) async throws(ConnectorError) -> ConnectorAnswer {
        try call.options.begin(call.operation, at: path)
        do throws(ConnectorError) {
            if let gate {
                // An answer that breaks its type is a failed call, for the breaker, too.
                func checkedAnswer() async throws(ConnectorError) -> ConnectorAnswer {
                    do throws(ConnectorError) {
                        let result = try await gate.call(call.operation, call.arguments, call.options)
                        let answer = ConnectorAnswer(result, redactor: gate.dependencies.redactor)
                        let checked = try answer.checked(call, from: gate)
                        if call.isDelivery { gate.pause(for: checked.batchAnswers?.waitOfConnection) }
                        return checked
                    } catch {
                        if call.isDelivery { gate.pause(for: error.code.concernsConnection ? error.retryAfter : nil) }
                        throw error
                    }
                }
                func answerThroughBreaker() async throws(ConnectorError) -> ConnectorAnswer {
                    guard gate.breaker.isInvolved else { return try await checkedAnswer() }
                    return try await gate.watched(checkedAnswer)
                }
                guard gate.isRecorded.load(ordering: .relaxed) else { return try await answerThroughBreaker() }
                return try await gate.recorded(call.operation, call.arguments, answerThroughBreaker) { try? $0.json() }
            }
            return switch policy {
            case .all?: try await all(call)
            case .first?: try await first(call, by: end)
            case .fastest?: try await fastest(call)
            case .sequence?: try await sequence(call, by: end)
            case .compare?: try await compare(call) { _ in true }
            case .shadow?: try await shadow(call)
            case .canary?: try await divided(call)
            case nil: throw ConnectorError(.notOpen, "the composite has no enabled child", connector: path)
            }
        } catch {
            guard isUnreached(error), let next = call.tree?.tree[path], next !== self,
                var remaining = call.remaining(until: end, on: tally.clock)
            else {
                var error = error
                // A batch may reach the vendor twice: its events have ids.
                if call.batchCount != nil, error.sending != nil, !error.isCancellation { error.isRetryable = true }
                // Why a gate is not open was redacted when it failed, and may have the words of an earlier call of this plugin.
                if gate != nil, call.options.isForPlugin, error.code == .notOpen { error.cause = nil }
                throw error
            }
            // Their leaves are those of this tree, and other leaves have their numbers in the next one.
            remaining.common = nil
            return try await next.answered(remaining, by: end)
        }
    }

    /// Whether a call ended with this error before it reached a leaf, because a reload had removed every leaf that it
    /// found.
    private func isUnreached(_ error: ConnectorError) -> Bool {
        // Only a call that a removed gate refuses has this code; a call in flight that the gate ends has another.
        if let gate { return error.code == .unknownConnector && gate.isRemoved }
        guard !error.outcomes.isEmpty else { return error.code == .notOpen }
        return error.outcomes.allSatisfy { outcome in
            outcome.error.flatMap { descendant(outcome.connector)?.isUnreached($0) } ?? false
        }
    }

    private func descendant(_ path: String) -> Node? {
        for child in children {
            if let node = child.path == path ? child : child.descendant(path) { return node }
        }
        return nil
    }

    func outcome(_ call: Call) async -> ConnectorAnswer.Outcome {
        guard let common = call.common else { return await ownOutcome(call) }
        guard gate != nil else {
            var call = call
            // Any other policy decides for itself whether it calls a leaf at all.
            if !policy.isAll { call.common = nil }
            return await ownOutcome(call)
        }
        return await common.outcome(of: index) { await ownOutcome(call) }
    }

    private func ownOutcome(_ call: Call) async -> ConnectorAnswer.Outcome {
        do throws(ConnectorError) {
            return .success(try await self.call(call, isChild: true))
        } catch {
            return .failure(error)
        }
    }

    /// Calls an operation on behalf of a composite, and returns the outcome of each leaf called.
    func outcomes(of call: Call) async -> [CallOutcome] {
        ConnectorAnswer.outcomes(of: [(path, await outcome(call))])
    }

    /// The children that have an operation; throws if none has it.
    ///
    /// A child whose plugin was not found is included, so that the call fails visibly rather than skipping it.
    func able(_ operation: String) throws(ConnectorError) -> [Node] {
        let able = children.filter { $0.offers(operation) != false }
        let isKnown = able.contains { $0.offers(operation) == true }
        guard able.isEmpty || !isKnown && !capabilities.isEmpty else { return able }
        let known = capabilities.names.sorted()
        throw ConnectorError(
            .unsupported,
            "no connector in \(path) has the operation \"\(operation.excerpt)\"",
            fix: suggestion(for: operation, among: known),
            connector: path
        )
    }

    /// The usable children that have the operation of a call; throws if none is usable.
    ///
    /// A delivery passes over those whose vendors have asked for a wait, unless all have.
    private func usable(for call: Call) throws(ConnectorError) -> [Node] {
        let usable = try able(call.operation).filter(\.isUsable)
        guard usable.isEmpty else {
            let ready = call.isDelivery ? usable.filter { !$0.isPaused } : usable
            return ready.isEmpty ? usable : ready
        }
        let hostHasClosed = leaves.contains { $0.gate?.hostHasClosed == true }
        var error = hostHasClosed ? ConnectorError.hostClosed : ConnectorError(.notOpen, "no child is open")
        (error.connector, error.isRetryable) = (path, !hostHasClosed)
        throw error
    }

    /// Whether vendors have asked for no delivery until later: that of a leaf; all below a `first` or `fastest`; one below another policy.
    private var isPaused: Bool {
        if let gate { return gate.isPaused }
        return switch policy {
        case .first?, .fastest?: children.filter(\.isUsable).allSatisfy(\.isPaused)
        default: children.contains(where: \.isPaused)
        }
    }

    // MARK: Policies

    /// Calls every child; each required one must succeed, or as many as the quorum demands.
    ///
    /// A leaf that is also below another `all` is called once, and its outcome counts at each place.
    private func all(_ call: Call) async throws(ConnectorError) -> ConnectorAnswer {
        let called = try able(call.operation)
        let (children, outcomes) = await outcomes(of: call.calling(once: commonLeaves), at: called)
        let asked: [ConnectorAnswer.Child] = zip(children, outcomes).map { ($0.path, $1) }
        func isEnough(_ isWorking: (ConnectorAnswer.Outcome) -> Bool) -> Bool {
            policy?.isSatisfied(by: zip(children, outcomes).map { (isWorking($1), requires($0)) }) ?? false
        }
        guard let first = outcomes.lazy.compactMap({ try? $0.get() }).first else {
            let needed = policy?.fewest ?? 1
            let what =
                asked.count == 1
                ? "the only child did not answer \"\(call.operation)\""
                : "none of the \(asked.count) children answered \"\(call.operation)\""
            throw failure(of: asked, needed > 1 ? "\(what); \(needed) must" : what)
        }
        guard isEnough(\.isSuccess) else {
            throw partialFailure(of: asked, call.operation, isRetryable: isEnough { $0.isSuccess || $0.isRetryable })
        }
        let requirement = policy.map { ($0, children.map(requires)) }
        return ConnectorAnswer(first, children: asked, requirement: requirement)
    }

    /// Calls children concurrently, and returns their outcomes in the order of the children.
    ///
    /// A child that a reload removes before the call reaches it is left out, unless that would leave no child.
    private func outcomes(
        of call: Call,
        at children: [Node]
    ) async -> (children: [Node], outcomes: [ConnectorAnswer.Outcome]) {
        let outcomes = await withTaskGroup(of: (Int, ConnectorAnswer.Outcome).self) { group in
            for (index, child) in children.enumerated() { group.addTask { (index, await child.outcome(call)) } }
            var outcomes: [Int: ConnectorAnswer.Outcome] = [:]
            for await (index, outcome) in group { outcomes[index] = outcome }
            return children.indices.compactMap { outcomes[$0] }
        }
        let present = zip(children, outcomes).filter { !$0.isGone($1) }
        guard !present.isEmpty, present.count < children.count else { return (children, outcomes) }
        return (present.map(\.0), present.map(\.1))
    }

    /// Whether a reload removed this leaf before a call reached it.
    private func isGone(_ outcome: ConnectorAnswer.Outcome) -> Bool {
        guard gate != nil, case .failure(let error) = outcome else { return false }
        return isUnreached(error)
    }

    /// Calls the first usable child; the next one only after a retryable error, or if the previous one is unavailable, gives no answer in
    /// its vendor's protocol or asks for a retry of the whole batch, and with the time that is left.
    private func first(_ call: Call, by end: UInt64) async throws(ConnectorError) -> ConnectorAnswer {
        var failures: [ConnectorAnswer.Child] = []
        var postponed = SoonestAnswer()
        for child in try usable(for: call) {
            guard let call = failures.isEmpty ? call : call.remaining(until: end, on: tally.clock) else { break }
            let outcome = await child.outcome(call)
            guard case .failure(var error) = outcome else {
                let answer = try outcome.get()
                guard let postponement = answer.postponement(of: call), !Task.isCancelled else {
                    return answer.after(ConnectorAnswer.outcomes(of: failures))
                }
                postponed.add(answer, postponement)
                failures.append((child.path, .failure(postponement)))
                continue
            }
            failures.append((child.path, outcome))
            // A server that will not be reached on a retry either, such as one with an expired certificate, is that child's alone, and so
            // is one whose answer cannot be read.
            let isAway = [.unavailable, .protocolViolation].contains(error.code) && !error.mayHaveTakenEffect
            guard error.isRetryable || isAway || child.isGone(outcome), !Task.isCancelled else {
                error.outcomes = ConnectorAnswer.outcomes(of: failures)
                throw error
            }
        }
        if let answer = postponed.answer { return answer }
        guard call.remaining(until: end, on: tally.clock) == nil else {
            throw failure(of: failures, "every open child failed")
        }
        var error = failure(of: failures, "no child answered within the timeout of the call")
        error.code = .timedOut
        throw error
    }

    /// Calls every usable child; the first success is the answer, and the others are cancelled. A child that asks for a
    /// retry of the whole batch answers only if no other child accepts any of it.
    private func fastest(_ call: Call) async throws(ConnectorError) -> ConnectorAnswer {
        let children = try usable(for: call)
        let (winner, failures) = await withTaskGroup(of: ConnectorAnswer.Child.self) { group in
            for child in children { group.addTask { (child.path, await child.outcome(call)) } }
            var failures: [ConnectorAnswer.Child] = []
            var postponed = SoonestAnswer()
            for await (path, outcome) in group {
                guard case .success(let answer) = outcome else {
                    failures.append((path, outcome))
                    continue
                }
                guard let postponement = answer.postponement(of: call) else {
                    group.cancelAll()
                    return (ConnectorAnswer?.some(answer), failures)
                }
                postponed.add(answer, postponement)
            }
            return (postponed.answer, failures)
        }
        if let winner { return winner.after(ConnectorAnswer.outcomes(of: failures)) }
        throw failure(of: failures, "every open child failed")
    }

    /// Calls the children in order, each with the previous one's answer and with the time that is left.
    private func sequence(_ call: Call, by end: UInt64) async throws(ConnectorError) -> ConnectorAnswer {
        var last: ConnectorAnswer?
        let children = try able(call.operation)
        for child in children {
            let earlier = last?.outcomes ?? []
            do throws(ConnectorError) {
                var call = call
                // The others answer with what the next child is called with.
                if child !== children.last { call.batchCount = nil }
                if let last {
                    call = try child.remaining(of: call, by: end)
                    call.arguments = try child.arguments(of: call, after: last)
                }
                last = try await child.call(call, isChild: true).after(earlier)
            } catch {
                guard !child.isGone(.failure(error)) else { continue }
                var error = error
                error.outcomes = earlier + ConnectorAnswer.outcomes(of: [(child.path, .failure(error))])
                throw error
            }
        }
        guard let last else { throw ConnectorError(.notOpen, "no child is open", connector: path) }
        return last
    }

    /// A call of the next child in a sequence, with the time that the earlier ones have left.
    ///
    /// - Throws: `timed-out` if they left none.
    private func remaining(of call: Call, by end: UInt64) throws(ConnectorError) -> Call {
        if let remaining = call.remaining(until: end, on: tally.clock) { return remaining }
        throw ConnectorError(
            .timedOut,
            "the earlier children of the sequence took all the time of the call",
            connector: path,
            isRetryable: true
        )
    }

    /// The arguments of the next child in a sequence: the previous answer as the only argument, or its members by name.
    ///
    /// Members that match no parameter are dropped. A composite answers with one result, as to a plugin that uses it.
    private func arguments(of call: Call, after last: ConnectorAnswer) throws(ConnectorError) -> CallArguments {
        let answer = try call.options.isForPlugin ? last.jsonForPlugin() : last.resultJSON()
        let inputs = (signature(of: call.operation)?.parameters ?? []).filter { $0.direction == .in }
        if inputs.count == 1, let input = inputs.first, answer.object?[input.name] == nil {
            return CallArguments(JSONObject([(input.name, answer)]))
        }
        guard let object = answer.object else {
            throw ConnectorError(
                .invalid,
                "\(last.result.gate) answered \(answer.kind), from which \(path) cannot take its arguments",
                connector: path
            )
        }
        let names = Set(inputs.map(\.name))
        return CallArguments(JSONObject(unique: object.members.filter { names.contains($0.name) }))
    }
}

/// The answer of the child that may be asked again soonest, of those that asked for a batch again.
private struct SoonestAnswer {
    private(set) var answer: ConnectorAnswer?
    private var wait = Duration.zero

    /// Adds an answer, and the wait that it asks for, if any.
    mutating func add(_ other: ConnectorAnswer, _ postponement: ConnectorError) {
        let wait = postponement.retryAfter ?? .zero
        if answer == nil || wait < self.wait { (answer, self.wait) = (other, wait) }
    }
}

extension ConnectorAnswer.Outcome {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }

    fileprivate var isRetryable: Bool { if case .failure(let error) = self { error.isRetryable } else { false } }
}
