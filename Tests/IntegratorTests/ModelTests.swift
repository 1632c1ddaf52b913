// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Integrator
import Testing

/// A list of names in one text.
private struct Names: Model, Equatable {
    /// The names.
    var all: [String]

    /// Splits the text at its commas.
    init(from data: String) throws {
        guard !data.isEmpty else { throw Failure(number: 7) }
        all = data.split(separator: ",").map(String.init)
    }
}

@Suite struct ModelTests {
    let provider = ClosureProvider { (text: String) in text }

    @Test func `a model is made from what the provider delivers`() async throws {
        let integrator = Integrator(provider: provider, model: Names.self)
        #expect(try await integrator.call("Ada,Grace").all == ["Ada", "Grace"])
    }

    @Test func `data that are no model fail the call with the error of the model`() async throws {
        let journal = Journal()
        let integrator = Integrator(provider: provider, model: Names.self)
        let call = integrator.prepare("").noted(in: journal, as: "names").call()
        await #expect(throws: Failure(number: 7)) { try await call.value }
        #expect(journal.lines == ["names begins", "names fails: Failure", "names completes"])
    }

    @Test func `the output of a provider may be the model`() async throws {
        #expect(try await Integrator(provider: provider).call("Ada") == "Ada")
    }

    @Test func `a closure may be the provider`() async throws {
        let length = Integrator(execution: .queue) { (text: String) in text.count }
        #expect(try await length.call("Ada") == 3)
    }

    @Test func `a provider without parameters is called without any`() async throws {
        let answer = Integrator { 42 }
        #expect(try await answer.call() == 42)
        #expect(try await answer.prepare().value() == 42)
    }
}
