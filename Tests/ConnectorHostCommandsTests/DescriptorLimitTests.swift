// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Testing

#if os(Linux)
    /// How many descriptors a host that runs may have.
    @Suite(.timeLimit(.minutes(5))) struct DescriptorLimitTests {
        @Test func `run raises the limit of descriptors as far as the system permits`() async throws {
            let workspace = try Workspace()
            let script = "ulimit -Sn 256; exec '\(Program.path)' run --watch"
            let host = try Child(start: "/bin/sh", ["-c", script], workspace.program)
            await host.error(until: "waiting for the file")
            let text = String(
                decoding: try SystemFile.bytes(of: "/proc/\(host.identifier)/limits", limit: 65_536),
                as: UTF8.self
            )
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Max open files ") })
            let fields = line.split(separator: " ")
            try #require(fields.count > 4)
            #expect(Int(fields[3]) == min(Int(fields[4]) ?? .max, 65_536))
            host.signal(15)
            _ = try await host.finish()
        }

        /// A workspace with one gate.
        private func workspace() throws -> Workspace {
            let workspace = try Workspace()
            try workspace.configure([
                ["name": "gate", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"]
            ])
            return workspace
        }

        @Test(arguments: [5, 8, 9, 13, 16, 19, 24, 32, 48])
        func `a command that may have too few descriptors says which limit to raise`(_ limit: Int) async throws {
            let workspace = try workspace()
            let script = "ulimit -n \(limit); exec '\(Program.path)' status --simulate"
            let result = try await Child(start: "/bin/sh", ["-c", script], workspace.program).finish()
            #expect(result.status == 1 && result.error.contains("ulimit -n"), "\(result)")
        }

        @Test func `a host that has too few descriptors for its API says so, and goes on`() async throws {
            let workspace = try workspace()
            let script = "ulimit -n 28; exec '\(Program.path)' run"
            let host = try Child(start: "/bin/sh", ["-c", script], workspace.program)
            let log = await host.error(until: "too few descriptors are left for HTTP")
            #expect(log.contains("the API has ended"), "\(log)")
            host.signal(15)
            let result = try await host.finish()
            #expect(result.status == 0, "\(result)")
        }

        @Test func `a host survives more clients than it has descriptors for, and answers others`() async throws {
            RawSocket.raiseLimit()
            let workspace = try Workspace()
            let gate: JSONValue = ["name": "gate", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"]
            let file: JSONValue = ["version": 1, "state": "state", "connectors": [gate]]
            try workspace.write(file.serialized(), to: "connectors.json")
            let script = "ulimit -n 256; exec '\(Program.path)' run --console 127.0.0.1:0"
            let host = try Child(start: "/bin/sh", ["-c", script], workspace.program)
            let link = await host.output(until: "/?token=")
            let digits = try #require(link.split(separator: "http://127.0.0.1:").last).prefix(while: \.isNumber)
            let port = try #require(Int(digits))
            while try await workspace.program.run("status", "--attach").status != 0 {}
            var clients: [RawSocket.Box] = []
            for _ in 0..<600 {
                let client = RawSocket.Box(try RawSocket(port: port))
                client.value.send("GET / HT".utf8)
                clients.append(client)
            }
            for _ in 0..<3 {
                let status = try await workspace.program.run("status", "--attach")
                #expect(status.status == 0, "\(status)")
            }
            withExtendedLifetime(clients) {}
            host.signal(15)
            #expect(try await host.finish().status == 0)
        }
    }
#endif
