// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory with a configuration whose events go to a sink, and the commands that tests run there.
struct OutboxWorkspace: Sendable {
    let workspace: Workspace
    let sink: Sink
    private var adapter: JSONValue { .string("\(Program.buildDirectory)/libsegment.so") }

    /// Makes the directory, and starts the sink.
    ///
    /// - Parameter sinkHost: The address that the sink listens at.
    init(sinkHost: String = "127.0.0.1") async throws {
        workspace = try Workspace()
        sink = try await Sink.start(sinkHost)
        try configure(leaf("segment"))
    }

    /// A connector that sends to the sink.
    func leaf(_ name: String, key: String = "key", _ settings: JSONObject = [:]) -> JSONValue {
        var object: JSONObject = [
            "name": .string(name), "plugin": adapter, "probe": "off",
            "config": ["endpoint": .string(sink.url), "writeKey": .string(key)],
            "outbox": ["retry": ["initial": "10ms", "max": "100ms"]],
        ]
        for member in settings.members { object[member.name] = member.value }
        return .object(object)
    }

    /// Writes the configuration.
    func configure(_ connectors: JSONValue...) throws {
        let file: JSONValue = ["version": 1, "state": "state", "connectors": .array(connectors)]
        try workspace.write(file.serialized(pretty: true), to: "connectors.json")
    }

    var program: Program { workspace.program }

    /// Runs a command, and reads the JSON that it answers.
    func json(_ arguments: String...) async throws -> JSONValue {
        let result = try await program.start(arguments + ["--json"]).finish()
        try #require(result.status == 0, "\(arguments): \(result.output)\(result.error)")
        return try JSONValue(parsing: result.output)
    }

    /// An event of the given id on a line.
    static func line(_ id: String, isPoison: Bool = false) -> String {
        #"{"event":"event \#(id)","userId":"u","messageId":"\#(id)","properties":{"poison":\#(isPoison)}}"# + "\n"
    }

    /// Starts to send the lines of a file.
    func send(_ path: String, file: String) throws -> Child {
        var program = program
        program.input = "\(workspace.path)/\(file)"
        return try program.start(["send", path, "track", "-", "--json"])
    }

    /// Starts a host, and returns once its gates are open.
    func run(_ arguments: String...) throws -> Child {
        try program.start(["run", "--json"] + arguments)
    }

    /// Sends one event.
    func track(_ id: String) async throws {
        let sent = try await json("send", "segment", "track", "event=event \(id)", "messageId=\(id)", "userId=u")
        #expect(sent == ["version": 1, "path": "segment", "operation": "track", "sent": 1, "id": .string(id)])
    }

    /// Ends a host as a service manager does.
    func end(_ host: Child) async throws -> JSONValue {
        host.signal(SIGTERM)
        let result = try await host.finish()
        #expect(result.status == 0, "\(result.error)")
        return try JSONValue(parsing: result.output)
    }
}
