// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Functions that forward each call to an instance elsewhere.
@Suite(.timeLimit(.minutes(10))) struct ForwardingInstanceTests {
    private static let manifest = """
        {"manifest": 1, "id": "away", "version": "1.0.0", "abi": [1, 1], "entry": "away_entry",
          "capabilities": {"away/1": {"read": {"symbol": "away_read", "signature": "(from: handle) async -> string"}}}}
        """

    /// An instance whose calls lead nowhere.
    private func instance() throws -> PluginInstance {
        let services = PluginSide().gate
        let made = try ForwardingInstance(
            Manifest(parsing: Array(Self.manifest.utf8)),
            dependencies: CallDependencies(
                operations: OperationTable(),
                workers: WorkerThreads(),
                gateThreads: WorkerThreads(isLean: true),
                cancelThreads: WorkerThreads(isLean: true),
                clock: ManualHostClock()
            ),
            context: .lend(to: services) { _ in },
            services: services,
            exchange: { _ in nil },
            batch: { _, _, _, _ in 0 }
        ) { _, _, _, _ throws(ConnectorError) in throw ConnectorError(.notOpen, "the gate has closed") }
        return made.instance
    }

    @Test func `an instance keeps its forwarder until it is given back`() throws {
        weak var forwarder: Forwarder?
        do {
            let instance = try instance()
            forwarder = instance.forwarder
            #expect(forwarder != nil)
            instance.context.giveBack()
        }
        #expect(forwarder == nil)
    }

    @Test func `an asynchronous call that passes an address is refused with how to make it`() throws {
        let instance = try instance()
        defer { instance.context.giveBack() }
        let id = try #require(instance.operations.begin(owner: instance.context.owner))
        instance.start(try instance.operation(named: "read"), [.handle(1)], id: id, deadline: .max)
        let outcome = try #require(instance.operations.takeOutcome(of: id))
        let error = #expect(throws: ConnectorError.self) { try outcome.get() }
        #expect(error?.code == .unsupported)
        #expect(error?.fix == "call the operation by name")
    }
}
