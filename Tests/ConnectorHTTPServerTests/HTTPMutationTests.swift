// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import NIOCore
import Testing

@testable import ConnectorHTTPServer

/// Requests that are damaged, split and sent one after the other: none traps, each connection is answered or ends, and the next
/// valid request is served.
@Suite(.timeLimit(.minutes(10))) struct HTTPMutationTests {
    private static let samples = [
        "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD /a?b=c%20d HTTP/1.1\r\nHost: [::1]:80\r\nAccept: text/html\r\nConnection: keep-alive\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"a\": true}",
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n",
        "GET /a HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: Bearer x\r\nCookie: a=b; c=d\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    ]

    @Test func `a damaged request is read the same way however its bytes arrive`() {
        for round in 0..<fuzzRounds * 5 {
            var random = SeededGenerator(seed: fuzzSeed &+ UInt64(round))
            let bytes = random.requests(Self.samples)
            let whole = Self.read([bytes])
            let split = Self.read(random.pieces(of: bytes))
            #expect(whole == split, "round \(round)")
            #expect(whole.count <= bytes.count + 2)
        }
    }

    @Test func `a server answers damaged requests or ends the connection, and serves the next valid one`() async throws
    {
        var limits = ServerLimits()
        limits.connections = 16
        let admit: @Sendable (ServerRequest) -> RequestAdmission = { request in
            if request.target == "/livez" {
                return .answer(ServerResponse(status: 200, [:], .bytes(Array("ok\n".utf8))))
            }
            return .read(
                limit: 1000,
                tooLarge: { ServerResponse(status: 413) },
                answer: { request in ServerResponse(status: 200, [:], .bytes(request.body)) }
            )
        }
        try await serving(limits, admit) { server, port in
            for round in 0..<fuzzRounds {
                var random = SeededGenerator(seed: fuzzSeed ^ 0x4854_5450 &+ UInt64(round))
                let pieces = random.pieces(of: random.requests(Self.samples))
                let answer = try await blocking {
                    let socket = try RawSocket(port: port)
                    for piece in pieces { socket.send(piece) }
                    socket.finish()
                    return socket.read()
                }
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 "), "round \(round)")
                #expect(try await ask(port).hasSuffix("ok\n"), "round \(round)")
            }
        }
    }

    /// What a parser makes of bytes that arrive in pieces: the events, bodies joined, and what was wrong.
    private static func read(_ pieces: [[UInt8]]) -> [String] {
        var parser = RequestParser(ServerLimits())
        var (input, events, body) = (ByteBuffer(), [String](), [UInt8]())
        for piece in pieces {
            input.writeBytes(piece)
            do throws(RequestFault) {
                while let event = try parser.next(&input) {
                    switch event {
                    case .head(let head): events.append("\(head)")
                    case .body(let bytes): body += bytes.readableBytesView
                    case .end:
                        events.append("end of \(body)")
                        body = []
                    }
                }
            } catch {
                return events + ["\(body)", "\(error)"]
            }
        }
        return events + ["\(body)"]
    }
}

extension SeededGenerator {
    /// Some requests one after the other, damaged in some places.
    fileprivate mutating func requests(_ samples: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...5, using: &self) {
            bytes += Array((samples.randomElement(using: &self) ?? "").utf8)
        }
        for _ in 0..<Int.random(in: 0...4, using: &self) where !bytes.isEmpty {
            let from = Int.random(in: bytes.indices, using: &self)
            let part = Array(bytes[from..<min(bytes.count, from + Int.random(in: 1...30, using: &self))])
            switch Int.random(in: 0..<6, using: &self) {
            case 0: bytes.removeSubrange(from..<from + part.count)
            case 1: bytes.insert(contentsOf: part, at: Int.random(in: bytes.indices, using: &self))
            case 2: bytes.insert(contentsOf: repeatElement(part, count: 500).joined(), at: from)
            case 3: bytes.insert(Array("\r\n\t :;,\0".utf8).randomElement(using: &self) ?? 0, at: from)
            case 4: bytes[from] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            default: bytes[from] = UInt8.random(in: 0...255, using: &self)
            }
        }
        return bytes
    }

    /// The same bytes in pieces.
    fileprivate mutating func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var (pieces, rest) = ([[UInt8]](), bytes[...])
        while !rest.isEmpty {
            let count =
                Bool.random(using: &self) ? Int.random(in: 1...3, using: &self) : Int.random(in: 1...4000, using: &self)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}
