// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest

/// Many calls of one operation in a lane, sent before earlier ones are answered.
///
/// The runner reads a call only after it has written the answer to the previous one, and waits while its ring of answers is full. So
/// that the two sides never both wait for room, calls are sent in rounds that fit into the ring of calls together with the end of the
/// batch, and all answers of a round are taken before the next round. A call that does not fit even alone is a round of its own.
extension RemoteChannel {
    /// The most bytes in a round of more than one call.
    private static let round = CallLane.capacity - 16
    /// After how many calls the buffered ones are sent to the runner.
    private static let shown = 16

    /// Makes calls with one frame; see `Forwarder.Batch`.
    ///
    /// - Returns: How many were made; fewer than asked if no lane is free, the runner is busy, or a lane does not carry the values.
    func exchange(
        _ call: ForwardedCall,
        _ count: Int,
        with number: UInt32,
        _ prepare: (Int) throws(ConnectorError) -> Void,
        _ take: (Int) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> Int {
        guard let lane = lane() else { return 0 }
        defer { runner.lanes.giveBack(lane) }
        lane.stream.requireSilence()
        lane.stream.begin(count: 8)
        lane.stream.put(LaneTarget(instance: number, position: call.position, isBatch: true).word)
        lane.stream.send()
        lane.stream.isInBatch = true
        // The next batch or call must find the stream silent; answers still due to this batch no longer matter.
        defer {
            lane.stream.endBatch()
            lane.stream.skipAll()
        }
        guard try isAnswered(call, in: lane, sent: 16) else { return 0 }
        return try makeCalls(call, count, in: lane, prepare, take)
    }

    private func makeCalls(
        _ call: ForwardedCall,
        _ count: Int,
        in lane: CallLane,
        _ prepare: (Int) throws(ConnectorError) -> Void,
        _ take: (Int) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> Int {
        var (made, isPrepared) = (0, false)
        while made < count {
            var (sent, bytes) = (made, 0)
            var refusal: ConnectorError?
            while sent < count {
                do throws(ConnectorError) {
                    if !isPrepared { try prepare(sent) }
                } catch {
                    refusal = error
                    break
                }
                guard let size = call.laneCount else { break }
                isPrepared = bytes > 0 && bytes + 16 + size > Self.round
                guard !isPrepared else { break }
                lane.stream.begin(count: 8 + size)
                lane.stream.put(LaneTarget.more)
                call.put(to: &lane.stream)
                (sent, bytes) = (sent + 1, bytes + 16 + size)
                if sent % Self.shown == 0 { lane.stream.send() }
            }
            guard sent > made || refusal != nil else { return made }
            lane.stream.send()
            lane.stream.due = sent - made
            while made < sent {
                lane.stream.due -= 1
                try takeNext(call, in: lane, sent: bytes)
                made += 1
                try take(made - 1)
            }
            if let refusal { throw refusal }
        }
        return made
    }

    /// Takes the next call's answers, in place of the previous call's.
    private func takeNext(_ call: ForwardedCall, in lane: CallLane, sent count: Int) throws(ConnectorError) {
        // Each call has a time limit of its own.
        lane.callEnds()
        let isMade = try isAnswered(call, in: lane, sent: count)
        call.takeBack()
        // The runner refuses only calls after a failed one, whose answers are never read.
        if !isMade { lane.stream.fail() }
        let status = try takeAnswers(call, in: lane, sent: count)
        guard status == 0 else { throw ConnectorError(status: status, error: nil, attempting: call.name) }
    }
}
