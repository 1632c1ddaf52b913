// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost

/// What holds for every pair of files.
@Suite(.timeLimit(.minutes(5))) struct ReloadPropertyTests {
    /// A file at random: leaves at the root and in one composite, with settings that may differ.
    private static func file(_ random: inout SeededGenerator) -> [String] {
        func leaf(_ name: String) -> String {
            let config: JSONObject =
                Bool.random(using: &random) ? [:] : ["replies": .string("\(Int.random(in: 1...2, using: &random))")]
            let timeout = Bool.random(using: &random) ? #", "timeout": "5s""# : ""
            return TestHost.leaf(name, config, settings: #""probe": "off"\#(timeout)"#)
        }
        var connectors = ["a", "b", "c", "d"].filter { _ in Bool.random(using: &random) }.map(leaf)
        let children = ["x", "y", "z"].shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)).map(leaf)
        if !children.isEmpty {
            let policy = ["all", "first", "fastest"].randomElement(using: &random) ?? "all"
            connectors.append(
                #"{"name": "group", "policy": "\#(policy)", "connectors": [\#(children.joined(separator: ","))]}"#
            )
        }
        return connectors.shuffled(using: &random) + [leaf("always")]
    }

    /// The parts of a report that do not depend on how the host came to its configuration.
    private static func essence(_ report: Report) -> [String] {
        report.gates.map { "\($0.path) \($0.state) \($0.target) \($0.policy ?? "") \($0.isRequired) \($0.isReady)" }
    }

    @Test(arguments: 1...15)
    func `a reloaded host equals a fresh one, and the gates that it kept have the same instance`(_ seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let files = (0..<4).map { _ in Self.file(&random) }
        let test = try await TestHost.opened(files[0].joined(separator: ","))
        for file in files.dropFirst() {
            let configuration = try TestHost.configuration(file)
            let before = test.host.report
            let plan = try await test.host.plan(configuration)
            let reload = await test.host.reload(configuration)
            #expect(reload.isActive)
            #expect(reload.plan?.changes == plan.changes && reload.plan?.kept == plan.kept)
            let fresh = try await TestHost.opened(file.joined(separator: ","))
            #expect(Self.essence(test.host.report) == Self.essence(fresh.host.report))
            await fresh.host.close()
            for gate in test.host.report.gates where gate.policy == nil {
                let change = plan[gate.path]
                let earlier = before[gate.path]?.generation
                let isNew = change?.kind == .added
                let isOther = change?.cost == .opensBeside
                #expect(gate.generation == (isNew ? 1 : (earlier ?? 0) + (isOther ? 1 : 0)), "\(gate.path)")
            }
            #expect(await test.host.reload(configuration).plan?.isEmpty == true)
        }
        await test.host.close()
    }

    @Test func `calls do not notice a hundred reloads`() async throws {
        func leaf(_ name: String, _ round: Int) -> String { TestHost.leaf(name, ["replies": .string("\(round)")]) }
        let test = try await TestHost.opened(
            TestHost.composite("group", "all", leaf("a", 0), leaf("b", 0)),
            leaf("c", 0)
        )
        let callers = try ["group", "group/a", "c", "group"].map { path in
            let gate = try test.host.gate(path)
            return repeating { _ = try await gate.call("answer", ["value": 0]) }
        }
        for round in 1...100 {
            // A second child comes and goes, and two leaves change.
            let group =
                round.isMultiple(of: 2)
                ? TestHost.composite("group", "all", leaf("a", round), leaf("b", 0))
                : TestHost.composite("group", "all", leaf("a", round))
            #expect(try await test.reload(group, leaf("c", round)).isActive)
        }
        for caller in callers { caller.cancel() }
        for caller in callers { #expect(try await caller.value > 0) }
        #expect(try test.gate("c").generation == 101)
        await test.host.close()
    }
}
