// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Logging
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// A host with the plugins of `Tests/Fixtures`, a clock that a test moves, and ``PendingCalls`` to complete what its gates leave
/// pending.
struct TestHost: Sendable {
    /// The host under test.
    let host: ConnectorHost
    /// Its time.
    let clock: ManualHostClock

    /// Makes a host; nothing is opened.
    ///
    /// - Parameter state: The directory of its state, which keeps its events; nil keeps them in memory.
    init(
        _ leaves: String...,
        jitter: @escaping @Sendable (UInt64) -> UInt64 = { $0 },
        environment: [String: String] = [:],
        state: String? = nil,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) throws {
        clock = ManualHostClock()
        host = try ConnectorHost.testing(
            "[\((leaves + PendingCalls.leaves(beside: leaves)).joined(separator: ","))]",
            plugins: Self.plugins,
            environment: environment,
            clock: clock,
            jitter: jitter,
            stateDirectory: state,
            logger: logger
        )
        PendingCalls.register(host)
    }

    private static let plugins =
        [
            "blocks", "blocks-on-delivery", "calls", "crashes", "crashes-on-delivery", "deliveries", "forms",
            "frees-on-cancel", "hostile", "nulls", "serial", "timers", "uses", "values",
        ]
        .map(Fixtures.contract)
        + ["timer", "sync", "http"].map(Fixtures.plugin)
        + [
            "never-opens", "opens-late", "opens-twice", "garbage-evidence", "unknown-operation", "foreign-operation",
            "refuses-to-open", "null-table", "opens-in-create", "null-evidence", "asks-undeclared",
        ].map(Fixtures.misbehaving)

    // MARK: Connectors

    private static let lastName = Atomic<Int>(0)

    /// A name that no other test uses: the fixtures remember calls by name for the whole process.
    static func unique(_ name: String = "call") -> String {
        "\(name)-\(lastName.add(1, ordering: .relaxed).newValue)"
    }

    /// A leaf that is proved, and heals, only if the test says so.
    ///
    /// - Parameters:
    ///   - config: Fields of the plugin.
    ///   - settings: More of the connector, such as `"timeout": "5s"`.
    static func leaf(
        _ name: String,
        plugin: String = "calls",
        _ config: JSONObject = [:],
        settings: String = #""probe": "off""#
    ) -> String {
        let settings = settings.contains("\"heal\"") ? settings : "\(settings), \"heal\": \"off\""
        return """
            {"name": "\(name)", "plugin": "\(plugin)", "config": \(JSONValue.object(config)), \(settings)}
            """
    }

    /// A composite.
    static func composite(_ name: String, _ policy: String, _ children: String..., settings: String = "") -> String {
        let settings = settings.isEmpty ? "" : ", \(settings)"
        return """
            {"name": "\(name)", "policy": "\(policy)", "connectors": [\(children.joined(separator: ","))]\(settings)}
            """
    }

    /// Moves the clock, as long as anything waits for it and no runner is asked whether it still answers, until a gate is in a state.
    func advance(by step: Duration, until state: GateState, _ path: String) async throws {
        while self.state(path) != state {
            if clock.timerCount > 0, !isAskingRunners { clock.advance(by: step) }
            try await Task.checkedYield()
        }
    }

    /// Does the same until a function returns.
    func advance(by step: Duration, until body: @escaping @Sendable () async -> Void) async throws {
        let end = OneShot<Void>()
        Task {
            await body()
            end.send()
        }
        while end.value == nil {
            if clock.timerCount > 0, !isAskingRunners { clock.advance(by: step) }
            try await Task.checkedYield()
        }
    }

    // MARK: Calls

    /// A host whose gates are open: these leaves, or one named `gate`.
    static func opened(_ leaves: String...) async throws -> TestHost {
        let test = try TestHost(leaves.isEmpty ? leaf("gate") : leaves.joined(separator: ","))
        #expect(await test.host.open().isReady)
        return test
    }

    /// A call that the plugin leaves pending, under a name by which ``finish(_:_:plugin:)`` finds it.
    func begin(_ name: String, timeout: Duration = .seconds(30)) async throws(ConnectorError) -> JSONValue {
        try await call("gate", "begin", ["name": .string(name)], options: CallOptions(timeout: timeout))
    }

    /// The report of a gate right now.
    func gate(_ path: String) throws -> GateReport { try #require(host.report[path]) }

    /// The state of a gate right now.
    func state(_ path: String) -> GateState? { host.report[path]?.state }

    /// Calls an operation of a connector.
    @discardableResult
    func call(
        _ path: String,
        _ operation: String,
        _ arguments: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        try await host.gate(path).call(operation, arguments, options: options)
    }

    /// Completes a pending call of any gate of the same image in the name of that gate, as soon as it is pending.
    ///
    /// - Returns: What the host answered.
    @discardableResult
    static func finish(_ name: String, _ value: JSONValue = true, plugin: String = "calls") async throws -> JSONValue {
        try await PendingCalls.perform("finishAsOwner", ["name": .string(name), "value": value], plugin: plugin)
    }

    /// Waits until no timer is left: the one of a call ends with its function, which may take longer than the answer.
    func noTimers() async throws {
        while clock.timerCount > 0 { try await Task.checkedYield() }
    }

    /// Waits until a gate's plugin has been told of a call, by reporting progress of it as long as there is none of the name.
    static func taken(_ name: String, plugin: String = "calls") async throws {
        _ = try await progress(name, plugin: plugin)
    }

    /// Reports progress of a call of any gate of the same image in the name of that gate, as soon as it has been begun.
    ///
    /// - Returns: What the host answered.
    static func progress(_ name: String, plugin: String = "calls") async throws -> JSONValue {
        try await PendingCalls.perform("progress", ["name": .string(name), "text": "null"], plugin: plugin)
    }

    /// Waits until a gate has counted something.
    func counts(_ path: String, _ name: String, reach number: Int64) async throws {
        while try await call(path, "counts")[name]?.integer ?? 0 < number { try await Task.checkedYield() }
    }
}

/// The error that something throws.
func failure<Value>(
    _ body: () async throws(ConnectorError) -> Value,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> ConnectorError {
    do throws(ConnectorError) {
        let value = try await body()
        Issue.record("expected an error, got \(value)", sourceLocation: sourceLocation)
    } catch {
        return error
    }
    throw ConnectorError(.failed, "nothing was thrown")
}

/// The result of something that a task does after it was cancelled.
func afterCancellation<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await body()
    }
    task.cancel()
    return try await task.value
}
