// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import ConnectorPlatform
import ConnectorSimulator
import ConnectorTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Files as an application uses them, kept by vendors that are simulated.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct RemoteFilesTests {
    private static let vendors = ["webdav", "s3"]

    /// Runs a test with a client of a vendor's files.
    ///
    /// - Parameters:
    ///   - changes: Fields of the adapter's configuration that differ from those of the simulated vendor.
    ///   - recording: The file of a recording; nil for none.
    private func withFiles(
        of vendor: String,
        changing changes: [String: String] = [:],
        recording: String? = nil,
        _ body: (ConnectorHost, Report, Simulator) async throws -> Void
    ) async throws {
        var options = SimulatorOptions()
        options.vendors = [vendor]
        let simulator = try Simulator(options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run() }
            var config = try await simulator.configuration(of: vendor).merging(changes) { $1 }
            if config["endpoint"] == "nowhere" {
                config["endpoint"] = try await simulator.baseURL(of: vendor) + "/nowhere"
            }
            let fields = JSONObject(config.map { ($0.key, JSONValue.string($0.value)) })
            var connector: JSONObject = ["name": "files", "plugin": .string(vendor), "config": .object(fields)]
            connector["record"] = recording.map { .string($0) }
            let host = try ConnectorHost.testing(
                JSONValue.array([.object(connector)]).serialized(),
                plugins: [try BuiltProducts.library(vendor)]
            )
            try await body(host, await host.open(), simulator)
            await host.close()
            simulator.stop()
            try await group.waitForAll()
        }
    }

    @Test(arguments: vendors)
    func `a vendor's adapter keeps the contract of its capability`(_ vendor: String) async throws {
        try await withFiles(of: vendor) { host, report, _ in
            #expect(report["files"]?.evidence.last?.kind == .authenticated)
            let findings = try await FilesConformance.check(host.files("files"))
            #expect(findings == [])
        }
    }

    @Test func `a recording of a put has no call with the id of an upload, which another run would not have`()
        async throws
    {
        let directory = ScratchDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = "\(directory.path)/s3.json"
        try await withFiles(of: "s3", recording: path) { host, _, _ in
            let files = try host.files("files")
            _ = try await files.put("a", .bytes([1, 2, 3]))
            _ = try await files.head("a")
        }
        let recording = try JSONValue(document: SystemFile.bytes(of: path, limit: 1 << 20))
        #expect(recording["calls"]?.array?.map { $0["operation"] } == ["files/head"])
        #expect(recording["answers"]?.array?.contains { $0["method"] == "PUT" } == true)
    }

    /// Puts a file that is larger than what an adapter keeps in memory, and reads it.
    private func putLarge(_ files: FilesClient) async throws {
        var content: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
        for block in 0..<320 { content += [UInt8](repeating: UInt8(block & 255), count: 1 << 16) }
        let entry = try await files.put("large/é ?#;%41.bin", .bytes(content), contentType: "application/x-large")
        #expect(entry.size == UInt64(content.count) && entry.contentType == "application/x-large")
        #expect(try await files.get("large/é ?#;%41.bin").collect(upTo: 32 << 20) == content)
        #expect(try await files.list(prefix: "large/").files.map(\.path) == ["large/é ?#;%41.bin"])
        try await files.remove("large/é ?#;%41.bin")
    }

    /// Puts to one path from many tasks at once: one of the contents is there, whole, and every put has ended well or in a conflict.
    private func race(_ files: FilesClient) async throws {
        let contents = (0..<8).map { [UInt8](repeating: UInt8($0), count: 100_000) }
        try await withThrowingTaskGroup { group in
            for content in contents {
                group.addTask {
                    do throws(ConnectorError) {
                        _ = try await files.put("raced.bin", .bytes(content))
                    } catch {
                        #expect(error.code == .conflict, "\(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let content = try await files.get("raced.bin").collect(upTo: 1 << 20)
        #expect(contents.contains(content))
        try await files.remove("raced.bin")
    }

    @Test(arguments: vendors)
    func `a file too large to keep in memory is put and read, under a name with every special character of URLs`(
        _ vendor: String
    )
        async throws
    {
        try await withFiles(of: vendor) { host, _, _ in try await putLarge(host.files("files")) }
    }

    @Test(arguments: vendors)
    func `concurrent puts to one path leave one of them, whole`(_ vendor: String) async throws {
        try await withFiles(of: vendor) { host, _, _ in try await race(host.files("files")) }
    }

    /// A connector to a real server, in JSON: `make acceptance` sets it.
    private static var server: String? {
        unsafe getenv("CONNECTOR_FILES_SERVER").map { unsafe String(cString: $0) }
    }

    @Test(.enabled(if: server != nil, "CONNECTOR_FILES_SERVER has no connector"))
    func `an adapter keeps the contract with a real server`() async throws {
        let connector = try JSONValue(parsing: #require(Self.server))
        let plugin = try #require(connector["plugin"]?.string)
        let host = try ConnectorHost.testing(
            JSONValue.array([connector]).serialized(),
            plugins: [try BuiltProducts.library(plugin)],
            clock: SystemHostClock()
        )
        let report = await host.open()
        #expect(report.isReady, "\(report)")
        let files = try host.files(#require(connector["name"]?.string))
        let findings = await FilesConformance.check(files)
        #expect(findings == [])
        try await putLarge(files)
        try await race(files)
        await host.close()
    }

    @Test(arguments: [
        ("webdav", ["password": "wrong"], ConnectorError.Code.unauthorized),
        ("webdav", ["endpoint": "nowhere"], .missing), ("s3", ["secretKey": "wrong"], .unauthorized),
        ("s3", ["accessKey": "wrong"], .unauthorized), ("s3", ["bucket": "nowhere"], .missing),
        ("s3", ["sessionToken": "wrong"], .unauthorized),
    ])
    func `a gate with a wrong key or place says so, and shows no secret`(
        _ vendor: String,
        _ changes: [String: String],
        _ code: ConnectorError.Code
    ) async throws {
        try await withFiles(of: vendor, changing: changes) { _, report, _ in
            let gate = try #require(report["files"])
            #expect(gate.state == .failed && gate.error?.code == code)
            #expect(gate.error.map { !"\($0)".contains("demo-secret-key") && !"\($0)".contains("wrong") } == true)
        }
    }

    @Test(arguments: vendors)
    func `a host that is not allowed gets no request`(_ vendor: String) async throws {
        var options = SimulatorOptions()
        options.vendors = [vendor]
        let simulator = try Simulator(options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run() }
            let config = try await simulator.configuration(of: vendor)
            let connector: JSONObject = [
                "name": "files", "plugin": .string(vendor), "allow": ["hosts": ["other.example"]],
                "config": .object(JSONObject(config.map { ($0.key, JSONValue.string($0.value)) })),
            ]
            let host = try ConnectorHost.testing(
                JSONValue.array([.object(connector)]).serialized(),
                plugins: [try BuiltProducts.library(vendor)]
            )
            let report = await host.open()
            #expect(report["files"]?.error?.code == .denied)
            #expect(simulator.received().isEmpty)
            await host.close()
            simulator.stop()
            try await group.waitForAll()
        }
    }
}
