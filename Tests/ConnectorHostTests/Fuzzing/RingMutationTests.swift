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
}
