// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@Suite struct BackoffTests {
    @Test func `the wait doubles exactly, up to the maximum`() {
        let backoff = Backoff(initial: .milliseconds(200), maximum: .seconds(5))
        let waits = (1...7).map { backoff.bound(after: $0) }
        #expect(waits == [200, 400, 800, 1600, 3200, 5000, 5000].map { .milliseconds($0) })
        #expect(backoff.bound(after: .min) == .milliseconds(200) && backoff.bound(after: .max) == .seconds(5))
    }

    @Test func `the first wait never exceeds the maximum, and an initial wait of zero stays zero`() {
        #expect(Backoff(initial: .seconds(9), maximum: .seconds(5)).bound(after: 1) == .seconds(5))
        #expect(Backoff(initial: .zero, maximum: .seconds(5)).bound(after: .max) == .zero)
    }

    @Test func `no wait overflows`() {
        let backoff = Backoff(initial: .seconds(Int64.max), maximum: .seconds(Int64.max))
        #expect(backoff.bound(after: .max) == .seconds(Int64.max))
        let tiny = Backoff(initial: .nanoseconds(1), maximum: .seconds(Int64.max))
        #expect(tiny.bound(after: .max) == .seconds(Int64.max))
    }

    @Test(arguments: [.nan, .infinity, 1e300])
    func `an absurd factor leads to the maximum wait`(factor: Double) {
        let backoff = Backoff(initial: .seconds(1), maximum: .seconds(20), factor: factor)
        #expect(backoff.bound(after: 1) == .seconds(1) && backoff.bound(after: 5) == .seconds(20))
    }
}
