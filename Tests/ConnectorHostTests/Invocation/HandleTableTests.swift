// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Numbers that stand for addresses.
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

    @Test func `a number that was not given out means nothing`() {
        let table = HandleTable()
        let number = table.number(0x1000)
        for other in [0, -1, number - 1, number + 1, .max, .min] { #expect(table.address(other) == nil) }
    }

    @Test func `no two tables have a number in common, here or in runners`() throws {
        let tables: [any HandleNumbering] = [HandleTable(), HandleTable(), RemoteHandles(), RemoteHandles()]
        for (index, table) in tables.enumerated() {
            let number = table.number(1)
            #expect(table.address(number) == 1)
            for (other, table) in tables.enumerated() where other != index { #expect(table.address(number) == nil) }
        }
    }

    @Test func `a runner's number that no table can give out means nothing`() {
        let table = RemoteHandles()
        for number in [0, 1 << 32, .max] as [UInt] { #expect(table.address(table.number(number)) == nil) }
    }
}
