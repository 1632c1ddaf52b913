// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// What a runner says about an instance, and what follows from the runner's end.
extension RemoteChannel {
    /// Takes a message about the instance.
    package func receive(_ frame: consuming Frame) {
        var message = MessageReader(frame.payload)
        do throws(ConnectorError) {
            switch frame.kind {
            case .created:
                let created = Created(
                    canProbe: try message.bool(),
                    canClose: try message.bool(),
                    isForeign: try message.bool()
                )
                // If a constructor or `create` has closed the socket, the runner's end is the answer, with that reason.
                if !runner.hasHungUp { settle(.success(created)) }
            case .refused: settle(.failure(try ConnectorError(&message)))
            case .completed: try complete(&message)
            case .progress:
                let id = try message.integer(UInt64.self)
                let json = try message.data()
                // Parsing holds up the messages after it.
                guard dependencies.operations.isPending(id) else { return }
                guard json.count <= Self.progressLimit, let value = try? JSONValue(parsing: json) else {
                    throw MessageReader.malformed
                }
                _ = dependencies.operations.progress(id, owner: context.owner, value)
            case .returned:
                let id = try message.integer(UInt64.self)
                state.withLock { state in
                    state.inside[id] = nil
                    state.pending[id]?.hasReturned = true
                }
            case .lifeCycle:
                let function = PluginFunction(try message.text(limit: 64))
                // A plugin that writes into the memory of the messages gets no text of its own into the log.
                guard Self.lifeCycle.contains(function.name) else { throw MessageReader.malformed }
                let isInside = try message.bool()
                let now = dependencies.clock.now()
                state.withLock { $0.note(function, isInside: isInside, at: now) }
            case .hasTimers: state.withLock { $0.hasTimers = true }
            case .inLine:
                let id = try message.integer(UInt64.self)
                let wait = CallWait(rawValue: try message.integer())
                state.withLock { $0.pending[id]?.wait = wait }
            case .misbehaved: context.misbehaved(try message.text(limit: 4096))
            case .disposed: disposed()
            default: try requests.receive(frame.kind, &message) { id in state.withLock { $0.pending[id]?.trace } }
            }
        } catch {
            runner.stop("it broke the protocol: \(error.message)")
        }
    }

    /// The functions of which a runner says that they run.
    private static let lifeCycle: Set<String> = ["cancel", "destroy", PluginFunction.callback]

    /// The most bytes of progress that a runner sends: a plugin's 64 KiB, written as the runner writes JSON.
    private static let progressLimit = 1 << 20

    private func settle(_ answer: Result<Created, ConnectorError>) {
        creation.withLock { $0 = $0 ?? answer }
        creation.signal()
    }

    private func complete(_ message: inout MessageReader) throws(ConnectorError) {
        let id = try message.integer(UInt64.self)
        let outcome: OperationTable.Outcome =
            try message.bool() ? .success(try message.data()) : .failure(try ConnectorError(&message))
        // What a phase has proved is worth nothing if it has broken the socket: the runner's end is the answer, with that reason.
        if case .success = outcome, state.withLock({ $0.pending[id]?.isPhase == true }), runner.hasHungUp { return }
        // A late answer is harmless; the plugin's own mistakes are noticed in the runner, which reports them.
        dependencies.operations.complete(id, owner: context.owner, outcome)
        forget(id)
    }

    func forget(_ id: UInt64) {
        _ = state.withLock { $0.pending.removeValue(forKey: id) }
    }

    private func disposed() {
        let (number, isExpected) = state.withLock { ($0.number, $0.isDisposed) }
        guard isExpected else { return context.misbehaved("says that its instance is destroyed, which it is not") }
        runner.remove(number)
        end()
    }

    /// Tells the gate first that the runner has ended, so that a caller whose call fails finds the gate's state changed.
    package func runnerIsLost(_ end: RunnerEnd) {
        requests.timers.stop()
        let (names, calls) = state.withLock { state -> (Set<String>?, [UInt64]) in
            // Nothing may become pending after ``runnerEnded(_:taken:)`` has failed what is.
            defer { state.isOver = true }
            // The gate has abandoned the instance, or is about to.
            guard !state.isOver, !state.isLost else { return (nil, []) }
            let names = state.pending.values.map(\.name) + (state.inside.values + state.lifeCycle).map(\.name)
            (state.inside, state.lifeCycle) = ([:], [])
            return (Set(names), Array(state.pending.keys))
        }
        guard let names else { return }
        // Before the gate closes: a request that it ends may be recorded as a watch that was watched for long enough.
        for call in calls { services.cancelCalls(during: call) }
        onLoss(withLog(end).loss(of: plugin, during: names.sorted().joined(separator: ", ")))
    }

    /// Fails everything that is pending: nothing will be answered.
    package func runnerEnded(_ end: RunnerEnd, taken: UInt64?) {
        let end = withLog(end)
        let (pending, creation, isDisposed) = state.withLock { state in
            defer { state.pending = [:] }
            return (state.pending, state.creation, state.isDisposed)
        }
        for (id, call) in pending {
            let sending = call.wait != nil ? .no : Self.sending(of: call.message, taken: taken)
            let error = end.error(call.name, plugin: plugin, sending: sending, isRepeatable: call.isRepeatable)
            dependencies.operations.complete(id, owner: context.owner, .failure(error))
        }
        let sending = Self.sending(of: creation, taken: taken)
        settle(.failure(end.error("create", plugin: plugin, sending: sending, isRepeatable: true)))
        if isDisposed { self.end() }
    }

    /// How the runner has ended, with the last lines that the plugin logged before those that the runner printed: what a runtime prints
    /// as it aborts comes last.
    func withLog(_ end: RunnerEnd) -> RunnerEnd {
        var end = end
        end.lines = requests.lastLines + end.lines
        return end
    }

    /// Whether a runner that has ended had taken a message. It may take one, and end, before the thread that sends it has noted its
    /// number.
    ///
    /// - Parameter taken: How many messages it had taken; nil if that is not known.
    static func sending(of message: UInt64?, taken: UInt64?) -> ConnectorError.Sending {
        guard let message, let taken else { return .unknown }
        return message <= taken ? .yes : .no
    }
}

extension RemoteChannel.State {
    /// Notes that a function runs, or has returned; the runner says it of only a few at once.
    fileprivate mutating func note(_ function: PluginFunction, isInside: Bool, at now: UInt64) {
        if function.name == PluginFunction.callback { callbackSince = isInside ? now : nil }
        if isInside {
            if !isOver, lifeCycle.count < 64 { lifeCycle.append(function) }
        } else if let index = lifeCycle.firstIndex(of: function) {
            lifeCycle.remove(at: index)
        }
    }
}
