// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest

/// Calls that are answered at once, while their callers' threads wait in a lane.
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
        lane.stream.receive()
        switch LaneAnswer(rawValue: lane.stream.word()) {
        case .answered?:
            let status = call.take(from: &lane.stream)
            if lane.stream.stop == nil { return status }
            call.takeBack()
        case .failed?:
            if let error = lane.stream.error(), lane.stream.stop == nil { throw error }
        case .busy?:
            if lane.stream.stop == nil { return nil }
        case nil: lane.stream.fail()
        }
        throw failure(of: call.name, in: lane, sent: 16 + count)
    }

    func lane() -> CallLane? {
        guard runner.ringReading.isUsed else { return nil }
        return runner.lanes.take(environment.clock, patience: CallOptions().timeoutNanoseconds) { descriptor in
            runner.send(.lane, instance: 0, [], descriptor: descriptor) != nil
        }
    }

    /// The error of a call whose lane has stopped.
    ///
    /// - Parameter count: The bytes of the call's message.
    func failure(of name: String, in lane: CallLane, sent count: Int) -> ConnectorError {
        switch lane.stream.stop {
        case .over?:
            let isSent = !lane.isUntouched(last: count)
            return (runner.lanes.runnerEnd ?? RunnerEnd()).error(name, plugin: plugin, isSent: isSent)
        case .late?:
            runner.checkPulse(on: environment.clock, patience: Self.grace)
            return Overdue.returning(from: PluginFunction(name), of: plugin).error(after: lane.patience)
        case .corrupt?, nil:
            runner.stop(Runner.isCorrupt)
            return ConnectorError(.misbehaved, "the runner's answer to \(name) is none")
        }
    }
}
