// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The state of a composite, given those of its children.
@Suite struct CompositeStateTests {
    /// - Parameters:
    ///   - optional: Children marked as optional.
    ///   - required: Children marked as required.
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
    func `a composite is closing while any child is, and opening while it needs a child that is`(
        _ policy: CompositePolicy
    ) {
        for other in GateState.allCases where other != .opening && other != .closing {
            let isEnough = other.isUsable && [.first, .fastest].contains(policy)
            #expect(state(policy, .opening, other) == (isEnough ? .degraded : .opening))
            #expect(state(policy, other, .closing) == .closing)
        }
        #expect(state(policy, .opening, .closing) == .closing)
    }

    @Test func `while a child that is not needed opens again, the composite is degraded and not opening`() {
        #expect(state(.all(quorum: nil), .open, .opening, optional: [1]) == .degraded)
        #expect(state(.all(quorum: 2), .open, .opening, .open) == .degraded)
        #expect(state(.first, .opening, .open) == .degraded)
    }

    @Test func `a child marked as required is required, whatever the policy`() {
        for policy in [.first, .fastest, .all(quorum: 1)] as [CompositePolicy] {
            #expect(state(policy, .open, .failed, required: [1]) == .failed)
            #expect(state(policy, .open, .failed, required: [0]) == .degraded)
        }
    }

    @Test func `with the policies all, sequence and compare, a required child that failed fails the composite`() {
        for policy in [.all(quorum: nil), .sequence, .compare] as [CompositePolicy] {
            #expect(state(policy, .open, .failed) == .failed)
            #expect(state(policy, .open, .failed, optional: [1]) == .degraded)
            #expect(state(policy, .failed, .failed, optional: [0, 1]) == .failed)
            #expect(state(policy, .open, .degraded) == .degraded)
        }
    }

    @Test func `with the policies first and fastest, one usable child is enough`() {
        for policy in [.first, .fastest] as [CompositePolicy] {
            #expect(state(policy, .failed, .open) == .degraded)
            #expect(state(policy, .degraded, .failed) == .degraded)
            #expect(state(policy, .failed, .closed) == .failed)
        }
    }

    @Test func `with a quorum, that many children must be usable`() {
        #expect(state(.all(quorum: 2), .open, .open, .failed) == .degraded)
        #expect(state(.all(quorum: 2), .open, .failed, .failed) == .failed)
        #expect(state(.all(quorum: 2), .open, .closed, .failed) == .degraded)
    }

    @Test func `a child that has not had its turn yet does not fail the composite`() {
        #expect(state(.sequence, .open, .closed) == .degraded)
        #expect(state(.all(quorum: nil), .closed, .open) == .degraded)
    }
}
