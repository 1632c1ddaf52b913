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

/// The ready-made C types of typed clients: each is called once for real, and asked for where it does not fit.
///
/// One after the other: the fixture counts the texts that reach it for all gates of its image.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OperationFunctionTests {
    private typealias Form = OperationFunction

    private func opened(
        _ channel: TestChannel,
        _ config: JSONObject = [:],
        environment: [String: String] = [:]
    ) async throws -> GateClient {
        let leaf = TestHost.leaf("gate", plugin: "forms", config, settings: channel.settings)
        let test = try TestHost(
            TestHost.composite("desk", "all", leaf),
            environment: environment
        )
        #expect(await test.host.open().isReady)
        return try test.host.gate("desk/gate")
    }

    // MARK: Every form

    @Test(arguments: TestChannel.all)
    func `one to three numbers arrive in their places`(channel: TestChannel) async throws {
        let gate = try await opened(channel)
        let one = try gate.typed("numbers1", "(a: f64) -> f64", as: Form.Numbers1.self)
        let two = try gate.typed("numbers2", "(a: f64, b: f64) -> f64", as: Form.Numbers2.self)
        let three = try gate.typed("numbers3", "(a: f64, b: f64, c: f64) -> f64", as: Form.Numbers3.self)
        #expect(try await one(1.5) == 1.5)
        #expect(try await two(1, 2) == 21)
        #expect(try await three(1, 2, 3) == 321)
    }

    @Test(arguments: TestChannel.all)
    func `one to three integers arrive in their places, whole`(channel: TestChannel) async throws {
        let gate = try await opened(channel)
        let one = try gate.typed("integers1", "(a: i64) -> i64", as: Form.Integers1.self)
        let two = try gate.typed("integers2", "(a: i64, b: i64) -> i64", as: Form.Integers2.self)
        let three = try gate.typed("integers3", "(a: i64, b: i64, c: i64) -> i64", as: Form.Integers3.self)
        #expect(try await one(.min) == .min)
        #expect(try await two(1, 2) == 21)
        #expect(try await three(1, 2, 3) == 321)
    }

    @Test(arguments: TestChannel.all)
    func `one to three texts arrive in their places`(channel: TestChannel) async throws {
        let gate = try await opened(channel)
        let one = try gate.typed("texts1", "(a: string) async -> json", as: Form.Texts1.self)
        let two = try gate.typed("texts2", "(a: string, b: bytes?) async -> string", as: Form.Texts2.self)
        let three = try gate.typed("texts3", "(a: string, b: json, c: string?) async -> string", as: Form.Texts3.self)
        #expect(try await one("é") == "[é]")
        #expect(try await two("one", "two") == "[one][two]")
        #expect(try await three("one", "2", "three") == "[one][2][three]")
    }

    @Test(arguments: TestChannel.all)
    func `a lease calls any form that answers at once`(channel: TestChannel) async throws {
        let gate = try await opened(channel)
        let numbers = try gate.typed("numbers3", "(a: f64, b: f64, c: f64) -> f64", as: Form.Numbers3.self)
        let integers = try gate.typed("integers3", "(a: i64, b: i64, c: i64) -> i64", as: Form.Integers3.self)
        let number = try await numbers.withLease { lease throws(ConnectorError) in try lease(lease(1, 0, 0), 1, 1) }
        let integer = try await integers.withLease { lease throws(ConnectorError) in try lease(lease(1, 0, 0), 1, 1) }
        #expect(number == 111)
        #expect(integer == 111)
    }

    // MARK: Texts that are not there

    @Test(arguments: TestChannel.all)
    func `an empty text is a text, and only nil is absent`(channel: TestChannel) async throws {
        let gate = try await opened(channel)
        let one = try gate.typed("texts1", "(a: string) async -> json", as: Form.Texts1.self)
        let two = try gate.typed("texts2", "(a: string, b: bytes?) async -> string", as: Form.Texts2.self)
        let three = try gate.typed("texts3", "(a: string, b: json, c: string?) async -> string", as: Form.Texts3.self)
        #expect(try await one("") == "[]")
        #expect(try await two("", "") == "[][]")
        #expect(try await two("", nil) == "[]-")
        #expect(try await three("", "", "") == "[][][]")
        #expect(try await three("", "", nil) == "[][]-")
    }

    @Test(arguments: TestChannel.all)
    func `an operation without a result answers null`(channel: TestChannel) async throws {
        let silent = try await opened(channel).typed("silent", "(a: string) async", as: Form.Texts1.self)
        #expect(try await silent("any") == .null)
    }

    @Test(arguments: TestChannel.all)
    func `nil for a text that is required is invalid before the plugin sees it`(channel: TestChannel) async throws {
        let gate = try await opened(channel)
        let one = try gate.typed("texts1", "(a: string) async -> json", as: Form.Texts1.self)
        let two = try gate.typed("texts2", "(a: string, b: bytes?) async -> string", as: Form.Texts2.self)
        let three = try gate.typed("texts3", "(a: string, b: json, c: string?) async -> string", as: Form.Texts3.self)
        let before = try await gate.call("calls")
        let errors = try await [
            failure { () throws(ConnectorError) in try await one(nil) },
            failure { () throws(ConnectorError) in try await two(nil, "b") },
            failure { () throws(ConnectorError) in try await three(nil, "b", "c") },
            failure { () throws(ConnectorError) in try await three("a", nil, nil) },
        ]
        #expect(errors.map(\.code) == Array(repeating: .invalid, count: 4))
        #expect(
            errors.map(\.message) == [
                "texts1 needs \"a\"", "texts2 needs \"a\"", "texts3 needs \"a\"", "texts3 needs \"b\"",
            ]
        )
        #expect(errors[3].fix == "call it as texts3(a: string, b: json, c: string?) async -> string")
        #expect(errors.allSatisfy { $0.connector == "desk/gate" })
        #expect(try await gate.call("calls") == before)
    }

    // MARK: Forms that do not fit

    /// The error of asking for an operation with a C type.
    private func problem<Function>(
        _ gate: GateClient,
        _ operation: String,
        _ signature: String,
        as function: Function.Type
    ) async throws -> ConnectorError {
        try await failure { () throws(ConnectorError) in try gate.typed(operation, signature, as: function) }
    }

    @Test(arguments: TestChannel.all)
    func `a form that does not fit the signature is invalid`(channel: TestChannel) async throws {
        let gate = try await opened(channel)
        let errors = try await [
            // Another number of parameters.
            problem(gate, "numbers1", "(a: f64) -> f64", as: Form.Numbers2.self),
            problem(gate, "numbers3", "(a: f64, b: f64, c: f64) -> f64", as: Form.Numbers2.self),
            problem(gate, "integers2", "(a: i64, b: i64) -> i64", as: Form.Integers1.self),
            problem(gate, "integers2", "(a: i64, b: i64) -> i64", as: Form.Integers3.self),
            problem(gate, "texts1", "(a: string) async -> json", as: Form.Texts2.self),
            problem(gate, "texts1", "(a: string) async -> json", as: Form.Texts3.self),
            problem(gate, "texts3", "(a: string, b: json, c: string?) async -> string", as: Form.Texts1.self),
            // Other types.
            problem(gate, "numbers1", "(a: f64) -> f64", as: Form.Integers1.self),
            problem(gate, "integers3", "(a: i64, b: i64, c: i64) -> i64", as: Form.Numbers3.self),
            problem(gate, "mixed", "(a: f64, b: i64) -> f64", as: Form.Numbers2.self),
            problem(gate, "unsigned", "(a: u64) -> u64", as: Form.Integers1.self),
            problem(gate, "numbered", "(a: string, b: i64) async -> json", as: Form.Texts2.self),
            problem(gate, "numbers1", "(a: f64) -> f64", as: Form.Texts1.self),
            // A pointer where the form has a value, another number of results, a result at once.
            problem(gate, "optional", "(a: f64?) -> f64", as: Form.Numbers1.self),
            problem(gate, "pair", "(a: f64) -> (b: f64, c: f64)", as: Form.Numbers1.self),
            problem(gate, "immediate", "(a: string) -> string", as: Form.Texts1.self),
        ]
        for error in errors {
            #expect(error.code == .invalid, "\(error)")
            #expect(error.connector == "desk/gate", "\(error)")
            #expect(error.message.contains("cannot be called with the C type of"), "\(error)")
        }
        #expect(
            errors[0].message
                == "numbers1(a: f64) -> f64 cannot be called with the C type of 2 f64 in and one out, synchronous"
        )
    }

    @Test(arguments: TestChannel.all)
    func `a signature other than the manifest's is an error that shows both`(channel: TestChannel) async throws {
        let gate = try await opened(channel)
        let error = try await problem(gate, "numbers2", "(a: f64) -> f64", as: Form.Numbers1.self)
        #expect(error.code == .signatureMismatch)
        #expect(error.message.contains("(a: f64, b: f64) -> f64"))
        #expect(error.message.contains("(a: f64) -> f64"))
        #expect(error.connector == "desk/gate")
    }

    // MARK: What the plugin says

    @Test(arguments: TestChannel.all)
    func `an error carries the connector's path, and no secrets`(channel: TestChannel) async throws {
        let gate = try await opened(
            channel,
            ["complaint": "not with Tr0ub4dor&3", "key": ["secret": "env:KEY"]],
            environment: ["KEY": "Tr0ub4dor&3"]
        )
        let now = try gate.typed("fail", "(a: f64) -> f64", as: Form.Numbers1.self)
        let later = try gate.typed("failLater", "(a: string) async -> json", as: Form.Texts1.self)
        let errors = try await [
            failure { () throws(ConnectorError) in try await now(1) },
            failure { () throws(ConnectorError) in
                try await now.withLease { lease throws(ConnectorError) in try lease(1) }
            },
            failure { () throws(ConnectorError) in try await later("any") },
        ]
        for error in errors {
            #expect(error.code == .invalid)
            #expect(error.connector == "desk/gate")
            #expect(error.message.contains("not with \(Secret.mask)"), "\(error)")
            #expect(!error.treeDescription.contains("Tr0ub4dor"))
        }
    }
}
