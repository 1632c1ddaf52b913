// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost

/// What a gate decides, without a gate.
@Suite struct GateStateMachineTests {
    private let away = ConnectorError(.unavailable, "away", isRetryable: true)
    private let refused = ConnectorError(.unauthorized, "refused")

    @Test func `a gate opens, closes and opens again`() {
        let machine = Machine(retry: .none)
        #expect(machine.state == .closed)
        #expect(machine.open() == .attempt)
        #expect(machine.state == .opening)
        #expect(machine.target == .open)
        #expect(machine.openSucceeded(round: machine.round) == .prove)
        #expect(machine.state == .open)
        #expect(machine.close())
        #expect(machine.state == .closing)
        #expect(machine.target == .closed)
        machine.closed()
        #expect(machine.state == .closed)
        #expect(machine.open() == .attempt)
        #expect(machine.attempts == 1)
    }

    @Test func `opening what is open or opening does nothing`() {
        let machine = Machine(retry: .none)
        _ = machine.open()
        #expect(machine.open() == .nothing)
        _ = machine.openSucceeded(round: machine.round)
        #expect(machine.open() == .nothing)
        #expect(machine.state == .open)
    }

    @Test func `closing what is closed or closing does nothing`() {
        let machine = Machine(retry: .none)
        #expect(!machine.close())
        _ = machine.open()
        #expect(machine.close())
        #expect(!machine.close())
    }

    @Test func `a retryable failure is tried again with doubled bounds up to the maximum`() {
        let machine = Machine(
            retry: RetryPolicy(attempts: 5, initial: .milliseconds(200), max: .milliseconds(1000))
        )
        _ = machine.open()
        let bounds = (0..<4).map { _ in machine.openFailed(away, round: machine.round) }
        #expect(
            bounds == [200, 400, 800, 1000].map { GateStateMachine.OpenAction.attemptWithin(.milliseconds($0)) }
        )
        #expect(machine.attempts == 5)
        #expect(machine.openFailed(away, round: machine.round) == .nothing)
        #expect(machine.state == .failed)
    }

    @Test func `no number of doublings overflows`() {
        let retry = RetryPolicy(attempts: .max, initial: .seconds(3600), max: .seconds(86400))
        #expect(retry.bound(afterAttempt: .max) == .seconds(86400))
        #expect(retry.bound(afterAttempt: .min) == .seconds(3600))
    }

    @Test func `what is not retryable is not tried again`() {
        let machine = Machine(retry: RetryPolicy(attempts: 5))
        _ = machine.open()
        #expect(machine.openFailed(refused, round: machine.round) == .nothing)
        #expect(machine.state == .failed)
        #expect(machine.target == .open)
        #expect(machine.attempts == 1)
    }

    @Test func `a wait that the vendor asked for takes the place of the backoff, up to the maximum`() {
        let machine = Machine(retry: RetryPolicy(attempts: 3, initial: .milliseconds(1), max: .seconds(5)))
        var error = away
        _ = machine.open()
        error.retryAfter = .seconds(2)
        #expect(machine.openFailed(error, round: machine.round) == .attemptAfter(.seconds(2)))
        error.retryAfter = .seconds(3600)
        #expect(machine.openFailed(error, round: machine.round) == .attemptAfter(.seconds(5)))
    }

    @Test func `a failed gate can be opened again`() {
        let machine = Machine(retry: .none)
        _ = machine.open()
        _ = machine.openFailed(refused, round: machine.round)
        #expect(machine.open() == .attempt)
        #expect(machine.state == .opening)
    }

    @Test func `an attempt that ends after the gate was closed changes nothing`() {
        let machine = Machine(retry: RetryPolicy(attempts: 3))
        _ = machine.open()
        let round = machine.round
        _ = machine.close()
        #expect(machine.openSucceeded(round: round) == .nothing)
        #expect(machine.openFailed(away, round: round) == .nothing)
        #expect(machine.state == .closing)
        machine.closed()
        _ = machine.open()
        #expect(machine.openSucceeded(round: round) == .nothing)
        #expect(machine.state == .opening)
    }

    @Test func `giving up fails the gate, and does not count the attempt that never was`() {
        let machine = Machine(retry: RetryPolicy(attempts: 3))
        _ = machine.open()
        _ = machine.openFailed(away, round: machine.round)
        #expect(machine.attempts == 2)
        machine.gaveUp(round: machine.round)
        #expect(machine.state == .failed)
        #expect(machine.attempts == 1)
        #expect(!machine.isProved)
    }

    @Test func `proofs that fail degrade a gate, then fail it, and one that succeeds mends it`() {
        let machine = Machine(retry: .none)
        _ = machine.open()
        _ = machine.openSucceeded(round: machine.round)
        machine.probeFailed()
        #expect(machine.state == .degraded)
        machine.probeFailed()
        #expect(machine.state == .degraded)
        machine.probeFailed()
        #expect(machine.state == .failed)
        #expect(machine.isProved)
        machine.probeSucceeded()
        #expect(machine.state == .open)
        machine.probeFailed()
        machine.probeSucceeded()
        machine.probeFailed()
        #expect(machine.state == .degraded)
    }

    @Test func `a gate that never opened is not proved`() {
        let machine = Machine(retry: .none)
        _ = machine.open()
        _ = machine.openFailed(refused, round: machine.round)
        #expect(!machine.isProved)
        machine.probeSucceeded()
        #expect(machine.state == .failed)
    }

    @Test func `proofs that end while the gate closes change nothing`() {
        let machine = Machine(retry: .none)
        _ = machine.open()
        _ = machine.openSucceeded(round: machine.round)
        _ = machine.close()
        machine.probeFailed()
        machine.probeSucceeded()
        #expect(machine.state == .closing)
    }
}

/// Holds a state machine, which itself is nothing that an expectation could copy.
private final class Machine {
    private var value: GateStateMachine

    init(retry: RetryPolicy) { value = GateStateMachine(retry: retry) }

    var state: GateState { value.state }
    var target: GateState { value.target }
    var attempts: Int { value.attempts }
    var round: Int { value.round }
    var isProved: Bool { value.isProved }

    func open() -> GateStateMachine.OpenAction { value.open() }
    func openSucceeded(round: Int) -> GateStateMachine.OpenAction { value.openSucceeded(round: round) }
    func openFailed(_ error: ConnectorError, round: Int) -> GateStateMachine.OpenAction {
        value.openFailed(error, round: round)
    }
    func gaveUp(round: Int) { value.gaveUp(round: round) }
    func probeSucceeded() { value.probeSucceeded() }
    func probeFailed() { value.probeFailed() }
    func close() -> Bool { value.close() }
    func closed() { value.closed() }
}
