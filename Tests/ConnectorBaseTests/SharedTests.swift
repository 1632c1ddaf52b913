// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// Values whose copies share one allocation.
struct SharedTests {
    private struct Members: Sendable, Equatable {
        var name: String
        var values: [Int] = []
    }

    @Test func `copies share the value until one of them changes`() {
        let first = Shared(Members(name: "a"))
        var second = first
        #expect(second.isCopy(of: first))
        second.value.values.append(1)
        #expect(!second.isCopy(of: first))
        #expect(first.value == Members(name: "a"))
        #expect(second.value == Members(name: "a", values: [1]))
    }

    @Test func `equal values that were made separately are not copies`() {
        #expect(!Shared(1).isCopy(of: Shared(1)))
    }
}
