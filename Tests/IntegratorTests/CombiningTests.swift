// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Integrator

@Suite(.timeLimit(.minutes(10))) struct CombiningTests {
    let number = ClosureProvider { (text: String) throws -> Int in
        guard let number = Int(text) else { throw Failure(number: 3) }
        return number
    }
    let double = ClosureProvider { (number: Int) in Double(number) * 2 }
    let isPositive = ClosureProvider { (number: Int) in number > 0 }

    @Test func `a sequence feeds each output to the next provider`() async throws {
        let text = ClosureProvider { (number: Double) in "\(number)" }
        #expect(try await (number >>>> double >>>> text).request("21") == "42.0")
        #expect(try await number.followed(by: double).request("21") == 42)
    }

    @Test func `a sequence stops at the first failure`() async throws {
        let journal = Journal()
        let sequence = number >>>> ClosureProvider { journal.note("\($0)") }
        await #expect(throws: Failure(number: 3)) { try await sequence.request("x") }
        #expect(journal.lines == [])
    }

    @Test func `a sequence that is cancelled in its first step does not take the second`() async throws {
        let provider = ManualProvider(ignoresCancellation: true)
        let journal = Journal()
        let call = CallFlow(provider: provider >>>> ClosureProvider { journal.note($0) }).prepare("a").call()
        await provider.request(for: "a")
        call.cancel()
        await provider.cancellation(of: "a")
        provider.answer("a")
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.lines == [])
    }

    @Test func `a group answers with a flat tuple`() async throws {
        let three = number >><< double >><< isPositive
        let output: (Int, Double, Bool) = try await three.request(("7", 2, -1))
        #expect(output == (7, 4, false))
        let named: (Int, Double, Bool) = try await group(number, double, isPositive).request(("7", 2, -1))
        #expect(named == (7, 4, false))
    }

    @Test func `a group of six members of different types is flat`() async throws {
        let six = number >><< double >><< isPositive >><< number >><< double >><< isPositive
        let output: (Int, Double, Bool, Int, Double, Bool) = try await six.request(("1", 2, 3, "4", 5, 6))
        #expect(output == (1, 4, true, 4, 10, true))
    }

    @Test func `a group in parentheses on the right stays nested`() async throws {
        let output: (Int, (Double, Bool)) = try await (number >><< (double >><< isPositive)).request(("1", (2, 3)))
        #expect(output.0 == 1)
        #expect(output.1 == (4, true))
    }

    @Test func `a group of one answers as its member does`() async throws {
        #expect(try await group(number).request("5") == 5)
    }

    @Test func `a group binds tighter than a sequence`() async throws {
        let split = ClosureProvider { (number: Int) in (number, number) }
        let join = ClosureProvider { (pair: (Double, Bool)) in "\(pair.0) \(pair.1)" }
        #expect(try await (number >>>> split >>>> double >><< isPositive >>>> join).request("3") == "6.0 true")
    }

    @Test func `the members of a group run at once`() async throws {
        let left = ManualProvider()
        let right = ManualProvider()
        let call = CallFlow(provider: left >><< right).prepare(("a", "b")).call()
        await left.request(for: "a")
        await right.request(for: "b")
        right.answer("b")
        left.answer("a")
        #expect(try await call.value == ("A", "B"))
    }

    @Test func `a member that fails cancels the others, and its error is the group's`() async throws {
        let slow = ManualProvider()
        let failing = ManualProvider()
        let call = CallFlow(provider: slow >><< failing >><< slow).prepare(("a", "b", "c")).call()
        await slow.request(for: "a")
        await slow.request(for: "c")
        failing.fail("b")
        await slow.cancellation(of: "a")
        await slow.cancellation(of: "c")
        await #expect(throws: Failure(number: 1)) { try await call.value }
    }

    @Test func `cancelling a call reaches every member of a group`() async throws {
        let provider = ManualProvider()
        let call = CallFlow(provider: group(provider, provider)).prepare(("a", "b")).call()
        await provider.request(for: "a")
        await provider.request(for: "b")
        call.cancel()
        await provider.cancellation(of: "a")
        await provider.cancellation(of: "b")
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func `a call flow is a provider and keeps its policy in a group`() async throws {
        let provider = ManualProvider()
        let queue = CallFlow(provider: provider, execution: .queue)
        provider.answer("a")
        provider.answer("b")
        let output = try await (queue >><< queue).request(("a", "b"))
        #expect(output == ("A", "B"))
        #expect(provider.mostAtOnce == 1)
    }
}
