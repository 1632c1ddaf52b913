// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorInvocation
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorIsolation

/// The host's side of a ring that a hostile runner damages: each message is read, or refused with a reason; nothing traps.
@Suite(.timeLimit(.minutes(30))) struct RingMutationTests {
    private static let capacity = 1024

    /// A message as a runner sends it.
    private static func frame(using random: inout SeededGenerator) -> [UInt8] {
        let kinds: [MessageKind] = [.completed, .progress, .refused, .log, .request, .gateCall, .pong, .room]
        var message = MessageWriter()
        message.put(UInt64.random(in: 0...9, using: &random))
        message.put(Bool.random(using: &random))
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: CallValue.bytes(Array(repeating: 7, count: .random(in: 0...90, using: &random))).put(to: &message)
            case 1: ConnectorError(.failed, "no", fix: "yes").put(to: &message)
            case 2:
                message.put(["a", "b"]) { $0.put($1) }
            default: message.put(Array(repeating: 1, count: .random(in: 0...300, using: &random)))
            }
        }
        let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
        return FrameHeader.frame(kind, instance: .random(in: 0...2, using: &random), message.bytes)
    }

    /// What the runner may do to the memory at any time.
    private static func damage(_ ring: RingMemory, using random: inout SeededGenerator) {
        let position = unsafe ring.tail.pointee.load(ordering: .relaxed)
        let near = position &+ UInt64(bitPattern: Int64.random(in: -1100...1100, using: &random))
        switch Int.random(in: 0..<12, using: &random) {
        case 0: unsafe ring.tail.pointee.store(near, ordering: .relaxed)
        case 1: unsafe ring.tail.pointee.store(.random(in: 0...(.max), using: &random), ordering: .relaxed)
        case 2: unsafe ring.head.pointee.store(near, ordering: .relaxed)
        case 3: unsafe ring.readerSleeps.pointee.store(.random(in: 0...2, using: &random), ordering: .relaxed)
        case 4: unsafe ring.writerSleeps.pointee.store(.random(in: 0...2, using: &random), ordering: .relaxed)
        case 5, 6:
            let bytes = (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }
            unsafe bytes.withUnsafeBytes { unsafe ring.store($0, at: near) }
        default: break
        }
    }

    /// Reads a message as the host does, whatever its kind says.
    private static func read(_ payload: [UInt8]) {
        var message = MessageReader(payload)
        _ = try? (message.integer(UInt64.self), message.bool(), ConnectorError(&message))
        message = MessageReader(payload)
        _ = try? message.integer(UInt64.self)
        _ = try? message.list(limit: 80) { message throws(ConnectorError) in try CallValue(&message) }
        message = MessageReader(payload)
        _ = try? (message.integer(UInt64.self), HeaderFields(&message), ServiceError.read(&message))
    }

    @Test func `reading a damaged ring gives a message or an error, and never traps`() throws {
        var random = SeededGenerator(seed: fuzzSeed)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.capacity, alignment: 16)
        defer { unsafe buffer.deallocate() }
        for _ in 0..<(fuzzRounds * 4) {
            let memory = try #require(SharedMemory(size: RingMemory.size(capacity: Self.capacity)))
            let ring = RingMemory(memory, at: 0, capacity: Self.capacity)
            let (writer, reader) = (RingWriter(ring), RingReader(ring, onRoom: {}))
            var assembler = FrameAssembler()
            do {
                var rest: ArraySlice<UInt8> = []
                for _ in 0..<40 {
                    if rest.isEmpty { rest = Self.frame(using: &random)[...] }
                    let piece = rest.prefix(.random(in: 1...200, using: &random))
                    let written = unsafe try piece.withUnsafeBytes { unsafe try writer.write($0) }
                    #expect(written <= piece.count)
                    rest = rest.dropFirst(written)
                    Self.damage(ring, using: &random)
                    let count = unsafe try reader.read(into: buffer)
                    #expect(count <= Self.capacity)
                    unsafe try assembler.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), nil)
                    while let frame = try assembler.next() {
                        #expect(frame.payload.count <= FrameHeader.limit)
                        Self.read(frame.payload)
                    }
                }
            } catch let error as ConnectorError {
                #expect(error.code == .protocolViolation, "seed \(fuzzSeed): \(error)")
            }
        }
    }

    // MARK: Lanes

    private static func bytes(_ word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }

    /// An answer to a typed call, or to one of a batch, as a runner sends it; now and then its size is wrong.
    private static func answer(using random: inout SeededGenerator) -> [UInt8] {
        let word = UInt64.random(in: 0...3, using: &random)
        var content = bytes(word)
        if word == LaneAnswer.failed.rawValue {
            var message = MessageWriter()
            ConnectorError(.failed, "no", fix: "yes").put(to: &message)
            content += message.bytes
        } else {
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let count = Int.random(in: 0...300, using: &random)
                content += bytes(UInt64(count) + 1)
                if Bool.random(using: &random) { content += [UInt8](repeating: 7, count: count) }
            }
        }
        let sizes: [UInt64] = [
            0, .max, UInt64(FrameHeader.limit), UInt64(content.count) + 1, UInt64(content.count) / 2,
        ]
        let size = Int.random(in: 0..<10, using: &random) == 0 ? sizes.randomElement(using: &random) : nil
        return bytes(size ?? UInt64(content.count)) + content
    }

    /// Takes an answer as a call does whose operation has some outputs.
    private static func takeAnswer(from stream: inout LaneStream, using random: inout SeededGenerator) {
        stream.receive()
        switch LaneAnswer(rawValue: stream.word()) {
        case .answered?:
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let word = stream.word()
                guard Bool.random(using: &random) else { continue }
                let count = stream.count(word), rest = stream.rest
                #expect(count >= 0 && count <= rest)
                if count > 4096 {
                    stream.skip(count)
                } else {
                    var bytes = [UInt8](repeating: 0, count: count)
                    unsafe bytes.withUnsafeMutableBytes { unsafe stream.take(into: $0) }
                }
            }
            if Bool.random(using: &random) { stream.skip() }
            if stream.rest > 0 { stream.fail() }
        case .failed?: _ = stream.error()
        case .busy?: break
        case nil: stream.fail()
        }
    }

    /// Makes a call, or a batch of calls, as the host does.
    private static func call(_ stream: inout LaneStream, using random: inout SeededGenerator) {
        stream.requireSilence()
        let size = Int.random(in: 0...300, using: &random)
        stream.begin(count: 8 + size)
        stream.put(0)
        let arguments = [UInt8](repeating: 3, count: size)
        unsafe arguments.withUnsafeBytes { unsafe stream.put($0) }
        stream.send()
        guard Bool.random(using: &random) else { return takeAnswer(from: &stream, using: &random) }
        stream.isInBatch = true
        stream.due = Int.random(in: 0...5, using: &random)
        for _ in 0..<stream.due {
            stream.due -= 1
            stream.callEnds()
            takeAnswer(from: &stream, using: &random)
        }
        stream.endBatch()
        stream.skipAll()
    }

    @Test func `answers in a damaged lane are taken or refused, and nothing traps or waits`() throws {
        var random = SeededGenerator(seed: fuzzSeed &+ 2)
        var stops: [LaneStop: Int] = [:]
        for _ in 0..<(fuzzRounds * 4) {
            let memory = try #require(SharedMemory(size: 4 * 4096))
            let calls = RingMemory(memory, at: 0, capacity: Self.capacity)
            let answers = RingMemory(memory, at: 2 * 4096, capacity: Self.capacity)
            // As after the deadline: what has arrived is taken, and nothing is awaited.
            let interruption = LaneInterruption()
            interruption.set(.late)
            var stream = LaneStream(RingReader(answers), RingWriter(calls), interruption) {}
            let (writer, reader) = (RingWriter(answers), RingReader(calls))
            var rest: ArraySlice<UInt8> = []
            var taken = [UInt8](repeating: 0, count: Self.capacity)
            for _ in 0..<20 where stream.stop != .corrupt {
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    if rest.isEmpty { rest = Self.answer(using: &random)[...] }
                    // The runner may have damaged its own positions.
                    let written = unsafe rest.withUnsafeBytes { bytes in (try? unsafe writer.write(bytes)) ?? 0 }
                    rest = rest.dropFirst(written)
                }
                if Int.random(in: 0..<3, using: &random) == 0 { Self.damage(answers, using: &random) }
                if Int.random(in: 0..<3, using: &random) == 0 { Self.damage(calls, using: &random) }
                Self.call(&stream, using: &random)
                let left = stream.rest
                #expect(left >= 0 && left <= FrameHeader.limit)
                stream.callEnds()
                if stream.stop == .late {
                    if Bool.random(using: &random) { _ = stream.discard() } else { _ = stream.lateAnswer() }
                }
                _ = unsafe taken.withUnsafeMutableBytes { bytes in try? unsafe reader.read(into: bytes) }
            }
            if let stop = stream.stop { stops[stop, default: 0] += 1 }
        }
        print("damaged lanes: \(stops)")
        #expect(stops[.corrupt] != nil, "seed \(fuzzSeed)")
    }
}
