// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The system's zlib behind two functions.
@Suite struct GzipTests {
    @Test(arguments: [0, 1, 1000, 1 << 20])
    func `what is compressed comes back`(size: Int) throws {
        var generator = SeededGenerator(seed: 1)
        let bytes = (0..<size).map { _ in UInt8.random(in: 0..<16, using: &generator) }
        let packed = try Gzip.compress(bytes)
        #expect(packed.starts(with: [0x1F, 0x8B]))
        #expect(try Gzip.decompress(packed, limit: size) == bytes)
    }

    @Test func `the frame of zlib is read too`() throws {
        // zlib.compress(b"abc")
        let packed: [UInt8] = [0x78, 0x9C, 0x4B, 0x4C, 0x4A, 0x06, 0x00, 0x02, 0x4D, 0x01, 0x27]
        #expect(try Gzip.decompress(packed, limit: 10) == Array("abc".utf8))
    }

    @Test func `every truncation and every flipped byte is an error, not a trap`() throws {
        let bytes = Array("a place, another place, and one more place".utf8)
        let packed = try Gzip.compress(bytes)
        for end in packed.indices {
            #expect(throws: ServiceFailure.self) { try Gzip.decompress(Array(packed[..<end]), limit: 1000) }
        }
        for index in packed.indices {
            var broken = packed
            broken[index] ^= 0x55
            // Some bytes of the frame, such as the time, carry nothing that is checked.
            let result = try? Gzip.decompress(broken, limit: 1000)
            #expect(result == nil || result == bytes || index < 10)
        }
    }

    @Test func `one byte too much is too large`() throws {
        let packed = try Gzip.compress([UInt8](repeating: 7, count: 100_000))
        #expect(try Gzip.decompress(packed, limit: 100_000).count == 100_000)
        let error = #expect(throws: ServiceFailure.self) { try Gzip.decompress(packed, limit: 99_999) }
        #expect(error?.status == Int32(CONNECTOR_TOO_LARGE))
    }
}
