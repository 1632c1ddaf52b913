// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest

/// Calls that are answered at once: their callers' threads wait in a lane.
extension RemoteChannel {
    /// Makes a call in a lane.
    ///
    /// - Returns: The status of the function; nil if no lane takes the call, so it travels as a message.
    func exchange(_ call: ForwardedCall, with number: UInt32) throws(ConnectorError) -> Int32? {
        guard let count = call.laneCount, let lane = lane() else { return nil }
        defer { runner.lanes.giveBack(lane) }
        lane.stream.requireSilence()
        lane.stream.begin(count: 8 + count)
        lane.stream.put(LaneTarget(instance: number, position: call.position).word)
        call.put(to: &lane.stream)
        lane.stream.send()
        guard try isAnswered(call, in: lane, sent: 16 + count) else { return nil }
        return try takeAnswers(call, in: lane, sent: 16 + count)
    }

    /// Awaits the answer to a call; its values follow.
    ///
    /// - Parameter count: How many bytes were sent.
    /// - Returns: False if the call was not made.
    /// - Throws: The plugin's error, or why the lane has stopped.
    func isAnswered(_ call: ForwardedCall, in lane: CallLane, sent count: Int) throws(ConnectorError) -> Bool {
        lane.stream.receive()
        switch LaneAnswer(rawValue: lane.stream.word()) {
        case .answered?:
            if lane.stream.stop == nil { return true }
        case .failed?:
            if let error = lane.stream.error(), lane.stream.stop == nil { throw error }
        case .busy?:
            if lane.stream.stop == nil { return false }
        case nil: lane.stream.fail()
        }
        throw failure(of: call.name, in: lane, sent: count)
    }

    /// Writes the values of an answer where the caller wants them.
    ///
    /// - Returns: The status of the function.
    func takeAnswers(_ call: ForwardedCall, in lane: CallLane, sent count: Int) throws(ConnectorError) -> Int32 {
        let status = call.take(from: &lane.stream)
        guard lane.stream.stop == nil else {
            call.takeBack()
            throw failure(of: call.name, in: lane, sent: count)
        }
        return status
    }

    /// A lane for the caller alone; nil if none is free.
    func lane() -> CallLane? {
        guard runner.ringReading.isUsed else { return nil }
        return runner.lanes.take(
            dependencies.clock,
            patience: CallOptions().timeoutNanoseconds,
            open: { descriptor in runner.send(.lane, instance: 0, [], descriptor: descriptor) != nil },
            onLate: checkPulse
        )
    }

    /// The error of a call whose lane has stopped.
    ///
    /// - Parameter count: The size of the call's message, in bytes.
    private func failure(of name: String, in lane: CallLane, sent count: Int) -> ConnectorError {
        // First, so that a call that is then found untaken is never made.
        if lane.stream.stop == .late { lane.withdraw() }
        // In memory that is filled with zeros, the first call of a lane would seem untaken.
        let mayBeTaken = lane.mayBeTaken(last: count) || runner.taken == nil
        switch lane.stream.stop {
        case .over?:
            return withLog(runner.lanes.runnerEnd ?? RunnerEnd()).error(
                name,
                plugin: plugin,
                sending: mayBeTaken ? .yes : .no,
                isRepeatable: manifest.operation(named: name)?.operation.isRepeatable ?? false
            )
        case .late?:
            checkPulse()
            let missed: MissedDeadline =
                if mayBeTaken {
                    .returning(from: PluginFunction(name), of: plugin, on: .runner)
                } else {
                    .arriving(of: name)
                }
            return missed.error(after: lane.patience)
        case .corrupt?, nil:
            runner.stop(Runner.isCorrupt)
            var error = ConnectorError(
                .misbehaved,
                "the runner's answer to \(name) is not valid: a plugin may have written over the memory that host and "
                    + "runner share; the call may have taken effect",
                fix: "report this to the plugin's author; the runner ends, and its gates open again"
            )
            error.sending = .unknown
            return error
        }
    }
}
