// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Addresses by small numbers.
@Suite struct HandleTableTests {
    @Test func `an address keeps its number until it is withdrawn`() {
        let table = HandleTable()
        let number = table.number(0x1000)
        #expect(table.number(0x1000) == number)
        #expect(table.address(number) == 0x1000)
        #expect(table.number(0x2000) != number)
        #expect(table.withdraw(0x1000))
        #expect(!table.withdraw(0x1000))
        #expect(table.address(number) == nil)
        #expect(table.number(0x1000) != number)
    }

    @Test func `no number that was not given out means anything`() {
        let table = HandleTable()
        _ = table.number(0x1000)
        for number in [0, -1, 2, .max, .min] as [Int64] { #expect(table.address(number) == nil) }
    }
}
