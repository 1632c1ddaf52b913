// This file is part of the connector-host project.
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
        let flow = CallFlow(provider: provider, model: Names.self)
        #expect(try await flow.call("Ada,Grace").all == ["Ada", "Grace"])
    }

    @Test func `data that do not fit the model fail the call with the model's error`() async throws {
        let journal = Journal()
        let flow = CallFlow(provider: provider, model: Names.self)
        let call = flow.prepare("").noted(in: journal, as: "names").call()
        await #expect(throws: Failure(number: 7)) { try await call.value }
        #expect(journal.lines == ["names begins", "names fails: Failure", "names completes"])
    }

    @Test func `the output of a provider may be the model`() async throws {
        #expect(try await CallFlow(provider: provider).call("Ada") == "Ada")
    }

    @Test func `a closure may be the provider`() async throws {
        let length = CallFlow(execution: .queue) { (text: String) in text.count }
        #expect(try await length.call("Ada") == 3)
    }

    @Test func `a provider without parameters is called without arguments`() async throws {
        let answer = CallFlow { 42 }
        #expect(try await answer.call() == 42)
        #expect(try await answer.prepare().value() == 42)
    }

    @Test func `the module's name tells its types from others of the same name`() async throws {
        struct DeferredCall {}
        let call: Integrator::DeferredCall<Void, Int> = Integrator::CallFlow { 42 }.prepare()
        #expect(try await call.value() == 42)
    }
}
