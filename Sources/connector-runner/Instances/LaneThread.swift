// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorPlatform

/// Serves a lane: a thread that makes one call after another, as the caller's thread in the host would. A plugin that blocks it
/// blocks only that caller. The thread lives as long as the process.
enum LaneThread {
    /// Starts serving a lane, and tells the host whether it is served.
    ///
    /// - Parameter instances: Finds an instance by its number.
    static func start(_ descriptor: consuming OwnedDescriptor, _ instances: @escaping Instances) {
        guard let memory = SharedMemory(descriptor, size: CallLane.size) else { return }
        let isStarted = HostThread.start("lane") {
            HostThread.run {
                var stream = stream(in: memory)
                stream.send(.answered)
                while stream.stop == nil { serve(&stream, instances) }
                // Only the host's end of a lane is interrupted, so a plugin has written over this one, and its caller waits.
                RunnerFailure.end(because: RingMemory.corrupt)
            } finally: { _ in
                RunnerFailure.endWithoutLane()
            }
        }
        if !isStarted {
            var stream = stream(in: memory)
            stream.send(.busy)
        }
    }

    /// An instance by its number; nil for none.
    typealias Instances = @Sendable (UInt32) -> RunnerInstance?

    private static func stream(in memory: SharedMemory) -> LaneStream {
        let rings = CallLane.rings(in: memory)
        return LaneStream(RingReader(rings.calls), RingWriter(rings.answers))
    }

    private static func serve(_ stream: inout LaneStream, _ instances: Instances) {
        stream.receive()
        let word = stream.word()
        guard stream.stop == nil, word != LaneTarget.noMore else { return }
        let target = LaneTarget(word: word)
        guard let instance = instances(target.instance) else {
            stream.skip()
            return stream.send(.busy)
        }
        target.isBatch ? instance.answerBatch(target.position, &stream) : instance.answer(target.position, &stream)
    }
}
