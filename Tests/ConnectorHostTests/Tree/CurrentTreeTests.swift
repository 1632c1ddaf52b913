// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// A change of the tree publishes the next snapshot; clients follow, and calls in flight finish on theirs.
@Suite(.timeLimit(.minutes(10))) struct CurrentTreeTests {
    private func opened(_ leaves: String...) async throws -> TestHost {
        let test = try TestHost(leaves.joined(separator: ","))
        await test.host.open()
        return test
    }

    @Test func `a client calls what its path means in the current snapshot`() async throws {
        let first = try await opened(TestHost.leaf("gate", ["replies": "1"]))
        let next = try await opened(
            TestHost.leaf("other", ["replies": "2"]),
            TestHost.composite("gate", "first", TestHost.leaf("child", ["replies": "3"]))
        )
        let client = try first.host.gate("gate")
        #expect(try await client.call("answer", ["value": 0]) == 1)
        first.host.current.publish { _ in next.host.current.tree }
        #expect(try await client.call("answer", ["value": 0]) == 3)
        #expect(try await client.call("answer", 0) == 3)
        #expect(try await first.host.gate("other").call("answer", ["value": 0]) == 2)
        #expect(first.host.report.ownGates.map(\.path) == ["other", "gate", "gate/child"])
    }

    @Test func `a path that has disappeared is an unknown connector, until it is back`() async throws {
        let test = try await opened(TestHost.leaf("gate", ["replies": "1"]))
        let other = try await opened(TestHost.leaf("gates", ["replies": "2"]))
        let before = test.host.current.tree
        let client = try test.host.gate("gate")
        test.host.current.publish { _ in other.host.current.tree }
        let error = try await failure { () throws(ConnectorError) in try await client.call("answer", ["value": 0]) }
        #expect(error.code == .unknownConnector)
        #expect(error.fix == "did you mean \"gates\"?")
        #expect(client.capabilities.isEmpty)
        test.host.current.publish { _ in before }
        #expect(try await client.call("answer", ["value": 0]) == 1)
    }

    /// In a process of its own: a lookup takes the lock that `publish` holds, which would end the process.
    @Test func `after a change, a client looks its connector up once and no more`() async {
        await #expect(processExitsWith: .success) {
            let test = try TestHost(TestHost.leaf("gate"))
            let current = test.host.current
            let reference = try NodeReference("gate", in: current)
            current.publish { $0 }
            let node = try reference.node
            var found: [Node] = []
            current.publish { tree in
                if let node = try? reference.node { found.append(node) }
                if let node = try? reference.lend({ node throws(ConnectorError) in node }) { found.append(node) }
                return tree
            }
            #expect(found.count == 2 && found.allSatisfy { $0 === node })
        }
    }

    @Test func `a client follows one change after the other`() throws {
        let first = try TestHost(TestHost.leaf("gate"))
        let next = try TestHost(TestHost.leaf("gate"))
        let trees = [first.host.current.tree, next.host.current.tree]
        let reference = try NodeReference("gate", in: first.host.current)
        for tree in [trees[1], trees[0], trees[1]] {
            first.host.current.publish { _ in tree }
            #expect(try reference.node === tree["gate"])
        }
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that completes the call leaves the tree, too"))
    func `a call in flight finishes on the snapshot where it began`() async throws {
        let name = TestHost.unique()
        let test = try await opened(
            TestHost.composite(
                "group",
                "sequence",
                TestHost.leaf("a", ["replies": "later", "name": .string(name)]),
                TestHost.leaf("b", ["replies": "7"])
            )
        )
        let other = try await opened(TestHost.leaf("other"))
        let client = try test.host.gate("group")
        async let answer = client.call("answer", ["value": 0])
        try await TestHost.taken("\(name):answer")
        test.host.current.publish { _ in other.host.current.tree }
        try await TestHost.finish("\(name):answer", 1)
        #expect(try await answer == 7)
    }
}
