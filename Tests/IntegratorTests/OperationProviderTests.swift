// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Integrator
import Testing

/// Operations as providers, without a host.
@Suite(.timeLimit(.minutes(10))) struct OperationProviderTests {
    /// Answers with the call itself.
    private struct Echo: OperationCaller {
        func call(_ operation: String, _ arguments: JSONObject, options: CallOptions) async throws -> JSONValue {
            guard operation != "fail" else { throw ConnectorError(.invalid, "no such place") }
            return [
                "operation": .string(operation), "arguments": .object(arguments),
                "timeout": .string("\(options.timeout)"),
            ]
        }
    }

    @Test func `each request calls the operation with its arguments and the options`() async throws {
        let flow = CallFlow(provider: Echo().provider("geocode", options: CallOptions(timeout: .seconds(7))))
        let answer = try await flow.call(["query": "Berlin"])
        #expect(answer["operation"] == "geocode")
        #expect(answer["arguments"] == ["query": "Berlin"])
        #expect(answer["timeout"]?.string == "\(Duration.seconds(7))")
    }

    @Test func `the default is the timeout of a call without options`() async throws {
        let answer = try await Echo().provider("geocode").request([:])
        #expect(answer["timeout"]?.string == "\(CallOptions().timeout)")
    }

    @Test func `the caller's error arrives unchanged`() async throws {
        let error = try await #require(throws: ConnectorError.self) { try await Echo().provider("fail").request([:]) }
        #expect(error.code == .invalid && error.message == "no such place")
    }
}
