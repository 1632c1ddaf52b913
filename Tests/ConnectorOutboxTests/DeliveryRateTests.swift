// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorOutbox

/// Events per second, over the last minute.
@Suite struct DeliveryRateTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `the rate covers the last minute`() {
        var rate = DeliveryRate(start: 100 * Self.second)
        for second in UInt64(100)..<200 { rate.count(second < 150 ? 6 : 3, at: second * Self.second) }
        #expect(rate.perSecond(at: 199 * Self.second) == 3.5)
        #expect(rate.perSecond(at: 209 * Self.second) == 2.5)
        #expect(rate.perSecond(at: 259 * Self.second) == 0)
        #expect(rate.perSecond(at: 100_000 * Self.second) == 0)
    }

    @Test func `a young rate covers the time since its start, but at least a second`() {
        var rate = DeliveryRate(start: 5 * Self.second)
        rate.count(10, at: 5 * Self.second)
        #expect(rate.perSecond(at: 5 * Self.second) == 10)
        #expect(rate.perSecond(at: 10 * Self.second) == 2)
    }

    @Test func `a clock that stands still or jumps far does not break the rate`() {
        var rate = DeliveryRate(start: 0)
        rate.count(1, at: .max)
        rate.count(1, at: .max)
        #expect(rate.perSecond(at: .max) == 2.0 / 60)
        rate.count(1, at: 0)
        #expect(rate.perSecond(at: 0) == 3)
    }
}
