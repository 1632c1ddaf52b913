// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import ConnectorSimulator
import ConnectorTestSupport
import Testing

/// Databases as an application uses them: a file, and vendors that are simulated.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct DatabaseClientTests {
    private let directory = ScratchDirectory()

    private func host(_ plugin: String, _ config: JSONObject) async throws -> ConnectorHost {
        // In a runner, the sandbox would hide the directory.
        let connector: JSONObject = [
            "name": "database", "plugin": .string(plugin), "sandbox": "off", "config": .object(config),
        ]
        let host = try ConnectorHost.testing(
            JSONValue.array([.object(connector)]).serialized(),
            plugins: [try BuiltProducts.library(plugin)]
        )
        try await host.open().requireReady()
        return host
    }

    @Test func `a database in a file keeps the contract of its capability`() async throws {
        let host = try await host("sqlite", ["file": .string("\(directory.path)/records.db")])
        // As a failed run leaves it.
        let left = try await host.database("database").create(["a": 1], in: "conformance", id: "conformance-id")
        #expect(try await DatabaseConformance.check(host.database("database")) == [])
        let twice = DatabaseQuery([.init("a", .greater, 0), .init("a", .greater, 9)])
        let error = await #expect(throws: ConnectorError.self) {
            _ = try await host.database("database").query(twice, in: "conformance")
        }
        #expect(error?.code == .invalid)
        await #expect(throws: ConnectorError.self) {
            _ = try await host.database("database").get(left.id, in: "conformance")
        }
        await host.close()
        #expect(directory.names() == ["records.db"])
    }

    @Test(arguments: ["kinto", "parse"])
    func `a vendor's adapter keeps the contract of its capability`(_ vendor: String) async throws {
        var options = SimulatorOptions()
        options.vendors = [vendor]
        let simulator = try Simulator(options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run() }
            let config = try await simulator.configuration(of: vendor)
            let host = try await host(vendor, JSONObject(config.map { ($0.key, JSONValue.string($0.value)) }))
            let hasAll = vendor == "kinto"
            let findings = try await DatabaseConformance.check(
                host.database("database"),
                options: DatabaseConformance.Options(collection: "Conformance", takesIDs: hasAll, hasVersions: hasAll)
            )
            #expect(findings == [])
            await host.close()
            simulator.stop()
            try await group.waitForAll()
        }
    }

    /// Stores the deepest record, reads it in every way, and removes it; a deeper one is refused and changes nothing.
    private func storeDeepest(_ host: ConnectorHost) async throws {
        func record(_ levels: Int) -> JSONObject {
            ["deep": (1..<levels).reduce(JSONValue.null) { value, _ in .array([value]) }]
        }
        let database = try host.database("database")
        let (deepest, deeper) = (record(JSONParser.depthLimit), record(JSONParser.depthLimit + 1))
        let made = try await database.create(deepest, in: "notes")
        #expect(try await database.get(made.id, in: "notes").data == deepest)
        let refused = await #expect(throws: ConnectorError.self) { _ = try await database.create(deeper, in: "notes") }
        #expect(refused?.code == .invalid)
        let replaced = await #expect(throws: ConnectorError.self) {
            _ = try await database.replace(made.id, with: deeper, in: "notes")
        }
        #expect(replaced?.code == .invalid)
        let arguments: JSONObject = ["collection": "notes", "record": .object(deeper)]
        let byName = await #expect(throws: ConnectorError.self) {
            _ = try await host.gate("database").call("create", arguments)
        }
        #expect(byName?.code == .invalid)
        #expect(try await database.query(in: "notes").records.map(\.data) == [deepest])
        try await database.delete(made.id, in: "notes")
        #expect(try await database.query(in: "notes").records.isEmpty)
        #expect(host.report["database"]?.misbehaviourCount == 0)
    }

    @Test func `the deepest record is stored in a file, found and removed, and a deeper one is refused`() async throws {
        let host = try await host("sqlite", ["file": .string("\(directory.path)/records.db")])
        try await storeDeepest(host)
        await host.close()
    }

    @Test func `the deepest record is stored at a vendor, found and removed, and a deeper one is refused`()
        async throws
    {
        var options = SimulatorOptions()
        options.vendors = ["kinto"]
        let simulator = try Simulator(options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run() }
            let config = try await simulator.configuration(of: "kinto")
            let host = try await host("kinto", JSONObject(config.map { ($0.key, JSONValue.string($0.value)) }))
            try await storeDeepest(host)
            await host.close()
            simulator.stop()
            try await group.waitForAll()
        }
    }

    @Test func `records of the application's own type outlive the host`() async throws {
        struct Note: Codable, Equatable {
            var title: String
            var done = false
        }

        let config: JSONObject = ["file": .string("\(directory.path)/notes.db")]
        var host = try await host("sqlite", config)
        let made = try await host.database("database").create(Note(title: "Milk"), in: "notes")
        await host.close()
        host = try await self.host("sqlite", config)
        #expect(try await host.database("database").get(made.id, in: "notes", as: Note.self) == Note(title: "Milk"))
        await host.close()
    }

    @Test func `a gate whose file cannot be used says why, and opens once it can`() async throws {
        let folder = "\(directory.path)/data"
        let settings = #""heal": "off", "sandbox": "off""#
        let host = try ConnectorHost.testing(
            #"[{"name": "database", "plugin": "sqlite", \#(settings), "config": {"file": "\#(folder)/a.db"}}]"#,
            plugins: [try BuiltProducts.library("sqlite")]
        )
        let report = await host.open()
        #expect(report["database"]?.error?.code == .missing)
        #expect(report["database"]?.error?.message.contains("it must exist") == true)
        #expect(Fixtures.run("mkdir -m 700 '\(folder)'") == 0)
        #expect(try await host.retry("database")["database"]?.isReady == true)
        await host.close()
    }
}
