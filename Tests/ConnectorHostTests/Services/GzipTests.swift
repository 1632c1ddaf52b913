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

@Suite struct GzipTests {
    @Test(arguments: [0, 1, 1000, 1 << 20])
    func `what is compressed comes back`(size: Int) throws {
        var generator = SeededGenerator(seed: 1)
        let bytes = (0..<size).map { _ in UInt8.random(in: 0..<16, using: &generator) }
        let packed = try Gzip.compress(bytes)
        #expect(packed.starts(with: [0x1F, 0x8B]))
        #expect(try ContentCoding.gzip.decode(packed, limit: size) == bytes)
    }
}
