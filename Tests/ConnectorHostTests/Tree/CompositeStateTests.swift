// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost

/// How a composite stands, given how its children do.
@Suite struct CompositeStateTests {
    private func state(_ policy: CompositePolicy, _ children: GateState..., optional: Set<Int> = []) -> GateState {
        policy.state(of: children.enumerated().map { ($0.element, !optional.contains($0.offset)) })
    }

    static let policies: [CompositePolicy] = [
        .all(quorum: nil), .all(quorum: 2), .first, .fastest, .sequence, .compare,
    ]

    @Test(arguments: policies)
    func `children of one state make a composite of that state`(_ policy: CompositePolicy) {
        for one in GateState.allCases { #expect(state(policy, one, one) == one) }
        #expect(state(policy) == .closed)
    }

    @Test(arguments: policies)
    func `a composite opens or closes as long as a child does`(_ policy: CompositePolicy) {
        for other in GateState.allCases where other != .opening && other != .closing {
            #expect(state(policy, .opening, other) == .opening)
            #expect(state(policy, other, .closing) == .closing)
        }
        #expect(state(policy, .opening, .closing) == .closing)
    }

    @Test func `with all, sequence and compare a required child that failed fails the whole`() {
        for policy in [.all(quorum: nil), .sequence, .compare] as [CompositePolicy] {
            #expect(state(policy, .open, .failed) == .failed)
            #expect(state(policy, .open, .failed, optional: [1]) == .degraded)
            #expect(state(policy, .failed, .failed, optional: [0, 1]) == .failed)
            #expect(state(policy, .open, .degraded) == .degraded)
        }
    }

    @Test func `with first and fastest one usable child is enough`() {
        for policy in [.first, .fastest] as [CompositePolicy] {
            #expect(state(policy, .failed, .open) == .degraded)
            #expect(state(policy, .degraded, .failed) == .degraded)
            #expect(state(policy, .failed, .closed) == .failed)
        }
    }

    @Test func `with a quorum that many children must be usable`() {
        #expect(state(.all(quorum: 2), .open, .open, .failed) == .degraded)
        #expect(state(.all(quorum: 2), .open, .failed, .failed) == .failed)
        #expect(state(.all(quorum: 2), .open, .closed, .failed) == .degraded)
    }

    @Test func `a child that has not had its turn yet does not fail the whole`() {
        #expect(state(.sequence, .open, .closed) == .degraded)
        #expect(state(.all(quorum: nil), .closed, .open) == .degraded)
    }
}
