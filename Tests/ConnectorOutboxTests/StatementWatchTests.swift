// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// How long a statement may run.
@Suite struct StatementWatchTests {
    @Test func `a copy may take longer than a transaction, even while the store closes`() {
        let time = Atomic<UInt64>(0)
        let watch = StatementWatch(limit: 10, now: { time.load(ordering: .relaxed) })
        watch.begin()
        time.store(10, ordering: .relaxed)
        #expect(watch.hasExpired)
        watch.beginCopy()
        time.store(10 + 10 * StatementWatch.copyFactor - 1, ordering: .relaxed)
        #expect(!watch.hasExpired)
        time.add(1, ordering: .relaxed)
        #expect(watch.hasExpired)
        let closing = StatementWatch(limit: .max, now: { time.load(ordering: .relaxed) })
        closing.beginCopy()
        closing.close()
        time.add(StatementWatch.grace, ordering: .relaxed)
        #expect(!closing.hasClosed)
        closing.begin()
        #expect(closing.hasClosed)
    }
}
