// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What another user of this machine gets from a host's socket, from its page, and from the commands of this user.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "only root can become another user"))
struct StrangerTests {
    /// A user that owns nothing, by its number.
    private static let user = 65_533

    /// A directory that everybody may enter, with one gate, and its state at a path.
    private func workspace(state: String = "state") throws -> Workspace {
        let workspace = try Workspace()
        #expect(unsafe chmod(workspace.path, 0o755) == 0)
        let file: JSONValue = [
            "version": 1, "state": .string(state),
            "connectors": [["name": "gate", "plugin": .string(FixturePlugins.good("sync")), "probe": "off"]],
        ]
        try workspace.write(file.serialized(), to: "connectors.json")
        shell("chmod 644 '\(workspace.path)/connectors.json'")
        return workspace
    }

    /// Starts a program as the stranger.
    private func stranger(_ arguments: [String], in workspace: Workspace) throws -> Child {
        try Child(start: FixturePlugins.tool("stranger"), ["\(Self.user)"] + arguments, workspace.program)
    }

    private static let request = "GET /api/v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    @Test func `a stranger gets no answer from the socket, even if its modes let it in`() async throws {
        let workspace = try workspace()
        let host = try workspace.program.start(["run", "--json"])
        while try await workspace.program.run("status", "--attach", "--json").status != 0 {}
        let socket = "\(workspace.path)/state/control"
        let kept = try await stranger(["ask", socket, Self.request], in: workspace).finish()
        #expect(kept.status == 1 && kept.error.contains("Permission denied"))
        #expect(unsafe chmod("\(workspace.path)/state", 0o755) == 0 && chmod(socket, 0o666) == 0)
        let refused = try await stranger(["ask", socket, Self.request], in: workspace).finish()
        #expect(refused.output.isEmpty, "the kernel says who asks")
        #expect(try await workspace.program.run("status", "--attach").status == 0, "this user is still answered")
        host.signal(15)
        #expect(try await host.finish().status == 0)
    }

    /// Where a stranger can put a socket.
    private enum Place: CaseIterable, CustomTestStringConvertible {
        case ownDirectory
        case directoryOpenToAll
        case sharedDirectory

        var testDescription: String { "\(self)" }

        /// Prepares the directory.
        func prepare(_ path: String) {
            switch self {
            case .ownDirectory: shell("mkdir '\(path)' && chown \(StrangerTests.user) '\(path)'")
            case .directoryOpenToAll: shell("mkdir -m 0777 '\(path)'")
            case .sharedDirectory: shell("mkdir -m 1777 '\(path)'")
            }
        }
    }

    @Test(arguments: Place.allCases)
    private func `commands send nothing to a stranger who listens, and print nothing that it answers`(_ place: Place)
        async throws
    {
        let workspace = try workspace(state: "theirs")
        let directory = "\(workspace.path)/theirs"
        place.prepare(directory)
        let forged = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"forged\": 1}"
        let server = try stranger(["forge", "\(directory)/control", forged], in: workspace)
        #expect(await server.output(until: "ready\n").contains("ready"))
        for command in [
            ["status"], ["status", "--attach"], ["call", "gate", "add", "4711", "4712"], ["watch"], ["outbox", "list"],
        ] {
            let result = try await workspace.program.start(command).finish()
            #expect(result.status != 0, "\(command)")
            #expect(result.error.contains("is not trusted"), "\(command): \(result.error)")
            #expect(!result.output.contains("forged") && !result.error.contains("forged"), "\(command)")
        }
        server.signal(9)
        #expect(try await server.finish().output.isEmpty, "not even who asks")
    }

    @Test func `a stranger's commands do not reach this user's host`() async throws {
        let workspace = try workspace()
        let host = try workspace.program.start(["run", "--json"])
        while try await workspace.program.run("status", "--attach", "--json").status != 0 {}
        let result = try await stranger(["run", Program.path, "status", "--attach"], in: workspace).finish()
        #expect(result.status != 0 && !result.output.contains("reported by"))
        host.signal(15)
        #expect(try await host.finish().status == 0)
    }

    @Test func `a stranger gets nothing from the page without a token`() async throws {
        try #require(shell("command -v curl > /dev/null") == 0, "curl is needed")
        let workspace = try workspace()
        let host = try workspace.program.start(["run", "--console", "127.0.0.1:0"])
        let line = await host.output(until: "?token=")
        let link = try #require(line.firstMatch(of: #/http:\/\/127\.0\.0\.1:\d+/#)?.output)
        for (target, status) in [
            ("/livez", "200"), ("/gates", "401"), ("/api/v1/status", "401"), ("/?token=guess", "403"),
            ("/metrics", "401"),
        ] {
            let curl = ["run", "/usr/bin/curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "\(link)\(target)"]
            let result = try await stranger(curl, in: workspace).finish()
            #expect(result.output == status, "\(target): \(result)")
        }
        host.signal(15)
        _ = try await host.finish()
    }

    @Test func `a simulation does without a host that is not trusted, unless it is told to ask one`() async throws {
        let workspace = try workspace(state: "theirs")
        let directory = "\(workspace.path)/theirs"
        Place.ownDirectory.prepare(directory)
        let forged = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"forged\": 1}"
        let server = try stranger(["forge", "\(directory)/control-simulated", forged], in: workspace)
        #expect(await server.output(until: "ready\n").contains("ready"))
        let own = try await workspace.program.start(["status", "--simulate"]).finish()
        #expect(own.status == 0 && !own.error.contains("is not trusted"), "\(own)")
        #expect(!own.output.contains("forged") && !own.error.contains("forged"))
        let attached = try await workspace.program.start(["status", "--simulate", "--attach"]).finish()
        #expect(attached.status != 0 && attached.error.contains("is not trusted"), "\(attached)")
        server.signal(9)
        #expect(try await server.finish().output.isEmpty, "not even who asks")
    }
}
