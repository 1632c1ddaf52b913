// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What a gate decides, without a gate.
@Suite struct GateStateMachineTests {
    private let away = ConnectorError(.unavailable, "away", isRetryable: true)
    private let refused = ConnectorError(.unauthorized, "refused")

    @Test func `a gate opens, closes and opens again`() {
        let machine = Machine()
        #expect(machine.state == .closed)
        #expect(machine.open() == .begin)
        #expect(machine.state == .opening)
        #expect(machine.target == .open)
        #expect(machine.succeeded())
        #expect(machine.state == .open)
        #expect(machine.close() == .begin)
        #expect(machine.state == .closing)
        #expect(machine.target == .closed)
        machine.closed()
        #expect(machine.state == .closed)
        #expect(machine.open() == .begin)
        #expect(machine.attempts == 1)
    }

    @Test func `opening a gate that is opening joins, and opening an open one does nothing`() {
        let machine = Machine()
        _ = machine.open()
        #expect(machine.open() == .join)
        _ = machine.succeeded()
        #expect(machine.open() == .nothing)
        #expect(machine.state == .open)
    }

    @Test func `closing a gate that is closing joins, and closing a closed one does nothing`() {
        let machine = Machine()
        #expect(machine.close() == .nothing)
        _ = machine.open()
        #expect(machine.close() == .begin)
        #expect(machine.close() == .join)
    }

    @Test func `opening a gate that is closing awaits that, and the target is open`() {
        let machine = Machine()
        _ = machine.open()
        _ = machine.close()
        #expect(machine.open() == .awaitClosing)
        #expect(machine.target == .open)
        #expect(machine.state == .closing)
    }

    @Test func `a request that is carried on opens nothing that was closed since`() {
        let machine = Machine()
        #expect(machine.open(isAgain: true) == .nothing)
        _ = machine.open()
        _ = machine.close()
        #expect(machine.open() == .awaitClosing)
        #expect(machine.close() == .join)
        machine.closed()
        #expect(machine.open(isAgain: true) == .nothing)
        #expect(machine.state == .closed)
        #expect(machine.target == .closed)
    }

    @Test func `a restart opens the gate again, unless it is closed meanwhile`() {
        let machine = Machine()
        _ = machine.open()
        _ = machine.succeeded()
        #expect(machine.close(isRestart: true) == .begin)
        #expect(machine.target == .open)
        machine.closed()
        #expect(machine.open(isAgain: true) == .begin)
        _ = machine.succeeded()
        #expect(machine.close(isRestart: true) == .begin)
        #expect(machine.close() == .join)
        machine.closed()
        #expect(machine.open(isAgain: true) == .nothing)
        #expect(machine.state == .closed)
    }

    @Test func `a retryable failure is tried again with doubled bounds up to the maximum`() {
        let machine = Machine(RetryPolicy(attempts: 5, initial: .milliseconds(200), max: .milliseconds(1000)))
        _ = machine.open()
        let actions = (0..<4).map { _ in machine.failed(away) }
        #expect(
            actions == [200, 400, 800, 1000].map { .retry(within: .milliseconds($0), after: .zero) }
        )
        #expect(machine.attempts == 5)
        #expect(machine.failed(away) == .fail)
        #expect(machine.state == .failed)
    }

    @Test func `no number of doublings makes the bound overflow`() {
        let retry = RetryPolicy(attempts: .max, initial: .seconds(3600), max: .seconds(86400))
        #expect(retry.bound(afterAttempt: .max) == .seconds(86400))
        #expect(retry.bound(afterAttempt: .min) == .seconds(3600))
    }

    @Test func `a failure that is not retryable is not retried while the gate opens`() {
        let machine = Machine(RetryPolicy(attempts: 5))
        _ = machine.open()
        #expect(machine.failed(refused) == .fail)
        #expect(machine.state == .failed)
        #expect(machine.target == .open)
        #expect(machine.attempts == 1)
    }

    @Test func `a wait that the vendor asked for replaces the backoff, up to the maximum`() {
        let machine = Machine(RetryPolicy(attempts: 3, initial: .milliseconds(1), max: .seconds(5)))
        var error = away
        _ = machine.open()
        error.retryAfter = .seconds(2)
        #expect(machine.failed(error) == .retry(within: .zero, after: .seconds(2)))
        error.retryAfter = .seconds(3600)
        #expect(machine.failed(error) == .retry(within: .zero, after: .seconds(5)))
    }

    @Test func `a gate that has failed can be opened again, undisturbed by its healing`() {
        let machine = Machine()
        _ = machine.open()
        let round = machine.round
        _ = machine.failed(refused)
        #expect(machine.open() == .begin)
        #expect(machine.state == .opening)
        #expect(!machine.heal(round))
        #expect(machine.attempts == 1)
    }

    @Test func `a gate that has failed heals, and counts the attempts`() {
        let machine = Machine()
        _ = machine.open()
        _ = machine.failed(away)
        #expect(machine.heal(machine.round))
        #expect(machine.state == .failed)
        #expect(machine.open() == .join)
        #expect(machine.failed(away) == .fail)
        #expect(machine.heal())
        #expect(!machine.heal())
        #expect(machine.attempts == 3)
        #expect(machine.succeeded())
        #expect(machine.state == .open)
    }

    @Test func `a closed gate does not heal`() {
        let machine = Machine()
        _ = machine.open()
        _ = machine.failed(away)
        let round = machine.round
        _ = machine.close()
        machine.closed()
        #expect(!machine.heal(round))
        #expect(!machine.heal())
        #expect(machine.state == .closed)
    }

    @Test func `a retired gate neither opens nor heals`() {
        let machine = Machine()
        _ = machine.open()
        _ = machine.failed(away)
        machine.retire()
        #expect(!machine.heal())
        #expect(machine.open() == .nothing)
    }

    @Test func `an attempt that ends after the gate was closed changes nothing`() {
        let machine = Machine(RetryPolicy(attempts: 3))
        _ = machine.open()
        let round = machine.round
        _ = machine.close()
        #expect(!machine.succeeded(round))
        #expect(machine.failed(away, round) == .nothing)
        #expect(machine.state == .closing)
        machine.closed()
        _ = machine.open()
        #expect(!machine.succeeded(round))
        #expect(machine.state == .opening)
    }

    @Test func `giving up fails the gate, and does not count the attempt that was never made`() {
        let machine = Machine(RetryPolicy(attempts: 3))
        _ = machine.open()
        _ = machine.failed(away)
        #expect(machine.attempts == 2)
        machine.gaveUp()
        #expect(machine.state == .failed)
        #expect(machine.attempts == 1)
        #expect(!machine.isProved)
    }

    @Test func `proofs that fail degrade a gate, then fail it, and one that succeeds in between restores it`() {
        let machine = Machine()
        _ = machine.open()
        _ = machine.succeeded()
        #expect(machine.probeFailed() == .degrade)
        #expect(machine.state == .degraded)
        #expect(machine.probeSucceeded() == .recover)
        #expect(machine.state == .open)
        #expect(machine.probeFailed() == .degrade)
        #expect(machine.probeFailed() == .nothing)
        #expect(machine.state == .degraded)
        #expect(machine.probeFailed() == .fail)
        #expect(machine.state == .failed)
        #expect(!machine.isProved)
        #expect(machine.probeSucceeded() == .nothing)
        #expect(machine.heal(machine.round))
    }

    @Test func `proofs that an operator asks for may degrade a gate, but never fail it`() {
        let machine = Machine()
        _ = machine.open()
        _ = machine.succeeded()
        #expect(machine.probeFailed(isScheduled: false) == .degrade)
        for _ in 1...10 { #expect(machine.probeFailed(isScheduled: false) == .nothing) }
        #expect(machine.state == .degraded)
        for _ in 1...2 { #expect(machine.probeFailed() == .nothing) }
        #expect(machine.probeFailed(isScheduled: false) == .nothing)
        #expect(machine.probeFailed() == .fail)
    }

    @Test func `proofs that end while the gate closes change nothing`() {
        let machine = Machine()
        _ = machine.open()
        _ = machine.succeeded()
        _ = machine.close()
        #expect(machine.probeFailed() == .nothing)
        #expect(machine.probeSucceeded() == .nothing)
        #expect(machine.state == .closing)
    }
}

/// Holds a state machine, which an expectation cannot copy.
private final class Machine {
    private var value: GateStateMachine

    init(_ retry: RetryPolicy = .none) { value = GateStateMachine(retry: retry) }

    var state: GateState { value.state }
    var target: GateState { value.target }
    var attempts: Int { value.attempts }
    var round: Int { value.round }
    var isProved: Bool { value.isProved }

    func open(isAgain: Bool = false) -> GateStateMachine.OpenAction { value.open(isAgain: isAgain) }
    func heal(_ round: Int? = nil) -> Bool { value.heal(round: round) }
    func retire() { value.retire() }
    func succeeded(_ round: Int? = nil) -> Bool { value.attemptSucceeded(round: round ?? value.round) }
    func failed(_ error: ConnectorError, _ round: Int? = nil) -> GateStateMachine.FailureAction {
        value.attemptFailed(error, round: round ?? value.round)
    }
    func gaveUp() { value.gaveUp(round: value.round) }
    func probeSucceeded() -> GateStateMachine.ProofAction { value.probeSucceeded() }
    func probeFailed(isScheduled: Bool = true) -> GateStateMachine.ProofAction {
        value.probeFailed(isScheduled: isScheduled)
    }
    func close(isRestart: Bool = false) -> GateStateMachine.CloseAction { value.close(isRestart: isRestart) }
    func closed() { value.closed() }
}
