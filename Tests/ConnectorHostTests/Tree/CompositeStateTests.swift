// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// How a composite stands, given how its children do.
@Suite struct CompositeStateTests {
    /// - Parameters:
    ///   - optional: Children that say so.
    ///   - required: The same.
    private func state(
        _ policy: CompositePolicy,
        _ children: GateState...,
        optional: Set<Int> = [],
        required: Set<Int> = []
    ) -> GateState {
        policy.state(
            of: children.enumerated().map { index, state in
                (state, required.contains(index) || policy.requiresChildren && !optional.contains(index))
            }
        )
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
    func `a composite closes as long as a child does, and opens as long as it needs one that does`(
        _ policy: CompositePolicy
    ) {
        for other in GateState.allCases where other != .opening && other != .closing {
            let isEnough = other.isUsable && [.first, .fastest].contains(policy)
            #expect(state(policy, .opening, other) == (isEnough ? .degraded : .opening))
            #expect(state(policy, other, .closing) == .closing)
        }
        #expect(state(policy, .opening, .closing) == .closing)
    }

    @Test func `a child that nobody needs is tried again without making the whole flicker`() {
        #expect(state(.all(quorum: nil), .open, .opening, optional: [1]) == .degraded)
        #expect(state(.all(quorum: 2), .open, .opening, .open) == .degraded)
        #expect(state(.first, .opening, .open) == .degraded)
    }

    @Test func `a child that says it is required is required, whatever the policy`() {
        for policy in [.first, .fastest, .all(quorum: 1)] as [CompositePolicy] {
            #expect(state(policy, .open, .failed, required: [1]) == .failed)
            #expect(state(policy, .open, .failed, required: [0]) == .degraded)
        }
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
