// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorOutbox
import ConnectorTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Hosts of a test's own, each with a directory of its own, that share an outbox on servers.
struct NATSHosts: Sendable {
    let bench: OutboxWorkspace
    let servers: NATSServers
    /// The machines of the servers, and after them one for the hosts; nil if all run on this one.
    let network: NetworkNamespaces?

    /// Starts three servers, and prepares some hosts, each with a key of its own for the vendor.
    ///
    /// - Parameter lease: After how long another host gets the events of one that was killed.
    init(_ count: Int, in network: NetworkNamespaces? = nil, lease: Duration = .seconds(2)) async throws {
        servers = try await NATSServers(3, in: network)
        self.network = network
        bench = try await OutboxWorkspace(sinkHost: network?.address ?? "127.0.0.1")
        let settings: JSONValue = ["batch": ["count": 20], "retry": ["initial": "10ms", "max": "100ms"]]
        for host in 0..<count {
            let file: JSONValue = [
                "version": 1, "state": "state",
                "outbox": ["engine": "nats", "url": .string(servers.url()), "replicas": 3],
                "connectors": [bench.leaf("segment", key: "key\(host)", ["outbox": settings])],
            ]
            try bench.workspace.write(file.serialized(pretty: true), to: "host\(host)/connectors.json")
        }
        _ = try await servers.migrate(["segment"], lease: lease)
        try await servers.whole()
    }

    /// Starts a command of a host.
    private func start(_ arguments: [String], on host: Int, input: String = "/dev/null") throws -> Child {
        var program = bench.program
        program.directory += "/host\(host)"
        program.input = input
        let words = (network?.command(3) ?? []) + [Program.path] + arguments + ["--json"]
        return try Child(start: words[0], Array(words.dropFirst()), program)
    }

    /// Starts a host that delivers until everything is delivered once it is told to stop, and waits until its gate is open.
    func opened(_ host: Int) async throws -> Child {
        let child = try start(["run", "--grace", "10m"], on: host)
        await child.error(until: "gate opened")
        return child
    }

    /// Starts to send the lines of a file.
    func send(file: String, on host: Int) throws -> Child {
        try start(["send", "segment", "track", "-"], on: host, input: "\(bench.workspace.path)/\(file)")
    }

    /// Sends one event, which the servers must take.
    func send(_ id: String) async throws {
        let words = ["send", "segment", "track", "event=event \(id)", "messageId=\(id)", "userId=u"]
        let result = try await start(words, on: 0).finish()
        #expect(result.status == 0, "\(result.error)")
    }

    /// Ends hosts once they have delivered everything, and checks the counts.
    func end(_ hosts: [Child], _ ledger: OutboxLedger) async throws {
        for host in hosts { host.signal(SIGTERM) }
        for host in hosts {
            let end = try await host.finish()
            #expect(end.status == 0, "\(end.error)")
            #expect(try JSONValue(parsing: end.output) == ["version": 1, "queued": 0])
        }
        try await servers.whole()
        print(servers.summary)
        let dead = try await start(["outbox", "dead", "--limit", "1000000"], on: 0).finish()
        #expect(dead.status == 0, "\(dead.error)")
        ledger.check(bench.sink, try JSONValue(parsing: dead.output)["dead"]?.array ?? [])
        try await bench.sink.stop()
    }
}
