// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Calls and their ids, without any plugin.
@Suite(.timeLimit(.minutes(10))) struct OperationTableTests {
    private let table = OperationTable()
    private let gone = ConnectorError(.cancelled, "gone")

    private func begin(_ owner: UInt64 = 1) throws -> UInt64 { try #require(table.begin(owner: owner)) }

    @Test func `the outcome of a call that completes before anybody waits is there at once`() async throws {
        let id = try begin()
        #expect(table.takeOutcome(of: id) == nil)
        #expect(table.complete(id, owner: 1, .success([1])) == .accepted)
        #expect(try table.takeOutcome(of: id)?.get() == [1])
        #expect(table.takeOutcome(of: id) == nil)
    }

    @Test func `an id that was never given out is unknown`() async {
        #expect(table.complete(0, owner: 1, .success([])) == .unknown)
        #expect(table.complete(.max, owner: 1, .success([])) == .unknown)
        #expect(table.progress(7, owner: 1, true) == .unknown)
        let outcome = await table.awaitOutcome(of: 99)
        #expect(throws: ConnectorError.self) { try outcome.get() }
    }

    @Test func `an id is never given out twice, though its slot is`() throws {
        var ids: Set<UInt64> = []
        for _ in 0..<1000 {
            let id = try begin()
            #expect(ids.insert(id).inserted)
            table.complete(id, owner: 1, .success([]))
            _ = table.takeOutcome(of: id)
        }
        #expect(Set(ids.map { $0 & 0xFFFFF }).count == 1)
        for id in ids { #expect(table.complete(id, owner: 1, .success([])) == .unknown) }
    }

    @Test func `only its owner can complete a call`() throws {
        let id = try begin(1)
        #expect(table.complete(id, owner: 2, .success([])) == .foreign)
        #expect(table.progress(id, owner: 2, true) == .foreign)
        #expect(table.complete(id, owner: 1, .success([])) == .accepted)
        #expect(table.complete(id, owner: 1, .success([])) == .unknown)
    }

    @Test func `a late answer to a call that was given up is harmless, however often it comes`() throws {
        let id = try begin()
        #expect(table.giveUp(id, owner: 1, gone))
        #expect(!table.giveUp(id, owner: 1, gone))
        #expect(table.progress(id, owner: 1, true) == .givenUp)
        #expect(table.complete(id, owner: 1, .success([])) == .givenUp)
        #expect(table.complete(id, owner: 1, .success([])) == .givenUp)
        #expect(table.progress(id, owner: 1, true) == .givenUp)
    }

    @Test func `late answers are harmless in any order, though the calls had one slot in turn`() throws {
        var ids: [UInt64] = []
        for _ in 0..<100 {
            let id = try begin()
            ids.append(id)
            #expect(table.giveUp(id, owner: 1, gone))
            #expect(throws: ConnectorError.self) { try table.takeOutcome(of: id)?.get() }
        }
        #expect(Set(ids.map { $0 & 0xFFFFF }).count == 1)
        for id in ids { #expect(table.progress(id, owner: 1, true) == .givenUp) }
        for _ in 0..<2 {
            for id in ids { #expect(table.complete(id, owner: 1, .success([])) == .givenUp) }
        }
    }

    @Test func `a call that its owner gave up is unknown to another owner, and to all once its owner is released`()
        throws
    {
        let ids = try [begin(1), begin(2)]
        #expect(table.giveUp(ids[0], owner: 1, gone))
        #expect(table.giveUp(ids[1], owner: 2, gone))
        #expect(table.complete(ids[0], owner: 2, .success([])) == .unknown)
        #expect(table.complete(ids[0], owner: 17, .success([])) == .unknown)
        table.forget(owner: 1)
        #expect(table.complete(ids[0], owner: 1, .success([])) == .unknown)
        #expect(table.complete(ids[1], owner: 2, .success([])) == .givenUp)
    }

    @Test func `an owner that never answers costs bounded memory, and is not blamed on suspicion`() throws {
        let completed = try begin()
        table.complete(completed, owner: 1, .success([]))
        _ = table.takeOutcome(of: completed)
        var ids: [UInt64] = []
        for _ in 0..<GivenUpCalls.limit + 10 {
            let id = try begin()
            ids.append(id)
            #expect(table.giveUp(id, owner: 1, gone))
            _ = table.takeOutcome(of: id)
        }
        for id in ids { #expect(table.complete(id, owner: 1, .success([])) == .givenUp) }
        // It cannot be told apart from those that were forgotten; an id that nobody ever had can.
        #expect(table.complete(completed, owner: 1, .success([])) == .givenUp)
        #expect(table.complete(.max, owner: 1, .success([])) == .unknown)
        #expect(table.complete(completed, owner: 2, .success([])) == .unknown)
    }

    @Test func `giving up one owner's calls leaves the others' alone`() throws {
        let mine = try [begin(1), begin(1)]
        let other = try begin(2)
        #expect(Set(table.giveUpAll(owner: 1, gone)) == Set(mine))
        #expect(table.giveUpAll(owner: 1, gone).isEmpty)
        #expect(table.pending(owner: 2) == [other])
        #expect(table.complete(other, owner: 2, .success([])) == .accepted)
    }

    @Test func `the table has a limit, and accepts calls again when others have ended`() async throws {
        let table = OperationTable(capacity: 1000)
        var ids: [UInt64] = []
        while let id = table.begin(owner: 1) { ids.append(id) }
        #expect(ids.count == 1000)
        let last = try #require(ids.last)
        table.complete(last, owner: 1, .success([]))
        _ = table.takeOutcome(of: last)
        #expect(table.begin(owner: 1) != nil)
    }

    @Test func `of many completions of a call at once, one is accepted, and the caller resumes once`() async throws {
        for _ in 0..<200 {
            let id = try begin()
            async let outcome = table.awaitOutcome(of: id)
            let accepted = await withTaskGroup(of: OperationTable.Answer.self) { group in
                for number in 0..<4 as Range<UInt8> {
                    group.addTask { table.complete(id, owner: 1, .success([number])) }
                }
                return await group.reduce(into: 0) { $0 += $1 == .accepted ? 1 : 0 }
            }
            #expect(accepted == 1)
            #expect(try await outcome.get().count == 1)
        }
    }

    @Test func `a caller that begins to wait while the call completes resumes with its outcome`() async throws {
        for _ in 0..<2000 {
            let id = try begin()
            async let answer = table.complete(id, owner: 1, .success([7]))
            #expect(try await table.awaitOutcome(of: id).get() == [7])
            #expect(await answer == .accepted)
        }
        #expect(table.pending(owner: 1).isEmpty)
    }

    @Test func `if a call is completed and given up at once, exactly one of the two ends it`() async throws {
        for _ in 0..<2000 {
            let id = try begin()
            async let answer = table.complete(id, owner: 1, .success([7]))
            async let isGivenUp = table.giveUp(id, owner: 1, gone)
            let outcome = await table.awaitOutcome(of: id)
            switch (await answer, await isGivenUp) {
            case (.accepted, false): #expect(try outcome.get() == [7])
            case (.givenUp, true): #expect(throws: ConnectorError.self) { try outcome.get() }
            case (let answer, let isGivenUp): Issue.record("\(answer) to the plugin, \(isGivenUp) to the caller")
            }
        }
    }

    @Test func `the outcomes of calls on many threads at once do not get mixed up`() async throws {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 as Range<UInt8> {
                group.addTask {
                    for _ in 0..<2000 {
                        guard let id = table.begin(owner: UInt64(number)) else {
                            Issue.record("the table is full")
                            return
                        }
                        #expect(table.complete(id, owner: UInt64(number), .success([number])) == .accepted)
                        #expect((try? table.takeOutcome(of: id)?.get()) == [number])
                    }
                }
            }
        }
    }

    @Test func `only the observer of a pending call hears of its progress`() throws {
        let heard = Mutex<[JSONValue]>([])
        let observed = try #require(table.begin(owner: 1) { value in heard.withLock { $0.append(value) } })
        let other = try begin()
        #expect(table.progress(observed, owner: 1, 1) == .accepted)
        #expect(table.progress(other, owner: 1, 2) == .accepted)
        table.complete(observed, owner: 1, .success([]))
        #expect(table.progress(observed, owner: 1, 3) == .unknown)
        _ = table.takeOutcome(of: observed)
        let next = try begin()
        #expect(next & 0xFFFFF == observed & 0xFFFFF)
        #expect(table.progress(next, owner: 1, 4) == .accepted)
        #expect(heard.withLock(\.self) == [1])
    }
}
