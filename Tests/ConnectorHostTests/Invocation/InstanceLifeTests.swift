// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost

/// Who is inside an instance, and who destroys it.
@Suite(.timeLimit(.minutes(10))) struct InstanceLifeTests {
    @Test func `an instance without calls is destroyed by whoever closes it`() {
        let life = InstanceLife()
        #expect(life.close())
        #expect(!life.close())
    }

    @Test func `the last call that leaves destroys a closed instance`() {
        let life = InstanceLife()
        #expect(life.enter(isOperation: true))
        #expect(life.enter(isOperation: false))
        #expect(!life.close())
        #expect(!life.leave())
        #expect(life.leave())
    }

    @Test func `a draining instance turns operations away, and lets the host's own steps in`() async {
        let life = InstanceLife()
        #expect(life.stopOperations())
        await life.drain()
        #expect(!life.enter(isOperation: true))
        #expect(!life.leave())
        #expect(life.enter(isOperation: false))
        #expect(!life.leave())
        #expect(life.close())
        #expect(!life.enter(isOperation: false))
        #expect(!life.leave())
    }

    @Test func `draining waits for the calls inside, or until it is ended`() async {
        let life = InstanceLife()
        #expect(life.enter(isOperation: true))
        #expect(!life.stopOperations())
        async let drained: Void = life.drain()
        #expect(!life.enter(isOperation: true))
        #expect(!life.leave())
        #expect(!life.leave())
        await drained
        #expect(life.enter(isOperation: false))
        async let ended: Void = life.drain()
        life.endDrain()
        life.endDrain()
        _ = life.leave()
        await ended
        #expect(life.close())
    }

    @Test func `an end of waiting that comes before the wait is not lost`() async {
        let life = InstanceLife()
        #expect(life.enter(isOperation: true))
        life.endDrain()
        await life.drain()
        life.endWait()
        await life.waitForEnd()
        #expect(!life.isDestroyed)
    }

    @Test func `exactly one of many threads destroys an instance, whatever the order`() async {
        for _ in 0..<300 {
            let life = InstanceLife()
            let destroyers = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        _ = life.enter(isOperation: true)
                        return life.leave() ? 1 : 0
                    }
                }
                group.addTask { life.close() ? 1 : 0 }
                return await group.reduce(0, +)
            }
            #expect(destroyers == 1)
        }
    }

    @Test func `waiting for the end ends with it, or before`() async {
        let life = InstanceLife()
        async let ended: Void = life.waitForEnd()
        life.endWait()
        #expect(!life.isDestroyed)
        life.destroyed()
        await ended
        await life.waitForEnd()
        #expect(life.isDestroyed)
    }
}
