// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `connector-host run --console` and `console --web`, as a user starts them.
@Suite(.timeLimit(.minutes(2))) struct WebCommandTests {
    @Test(arguments: [["run", "--console", "127.0.0.1:0"], ["console", "--web", "127.0.0.1:0"]])
    func `a served console prints its link, takes faults while it runs, and ends at a signal`(_ words: [String])
        async throws
    {
        let program = Program(directory: FixturePlugins.root)
        let child = try program.start(words + ["--simulate"])
        let printed = await child.output(until: ":status=503\n")
        let link = try #require(printed.firstMatch(of: #/console: (http://127\.0\.0\.1:\d+/\?token=[\w-]{43})\n/#))
        #expect(!link.1.isEmpty)
        let port = try #require(printed.firstMatch(of: #/--into (\d+)/#)).1
        let put = try await program.run("simulate", "--into", "\(port)", "--fault", "google:status=503,times=1")
        #expect(put.status == 0 && put.output == "google:status=503,times=1\n")
        let wrong = try await program.run("simulate", "--into", "\(port)", "--fault", "nobody:reset")
        #expect(wrong.status == 64 && wrong.error.contains("no vendor \"nobody\" is served"))
        let ended = try await program.run("simulate", "--into", "\(port)", "--json")
        #expect(try JSONValue(parsing: ended.output)["faults"]?.array?.isEmpty == true)
        child.signal(SIGTERM)
        #expect(try await child.finish().status == 0)
        #expect(try await program.run("simulate", "--into", "\(port)").status == 1, "nobody is there any more")
    }

    @Test func `without a console, a simulated host tells on standard error where faults are injected`() async throws {
        let program = Program(directory: FixturePlugins.root)
        let host = try program.start(["run", "--simulate", "--json"])
        let log = await host.error(until: "status=503")
        let command = try #require(log.firstMatch(of: #/faults:  connector-host (simulate --into \d+ --fault \S+)/#)).1
        let injected = try await program.start(command.split(separator: " ").map(String.init)).finish()
        #expect(injected.status == 0, "\(injected)")
        host.signal(SIGTERM)
        #expect(try await host.finish().status == 0)
    }

    @Test func `an address that is taken is an error, and the status is 1`() async throws {
        let program = Program(directory: FixturePlugins.root)
        let first = try program.start(["run", "--simulate", "--console", "127.0.0.1:0"])
        let printed = await first.output(until: "?token=")
        let port = try #require(printed.firstMatch(of: #/127\.0\.0\.1:(\d+)/#)).1
        let second = try await program.run("run", "--simulate", "--console", "127.0.0.1:\(port)")
        #expect(second.status == 1 && second.error.contains("the console cannot listen on 127.0.0.1:\(port)"))
        first.signal(SIGINT)
        #expect(try await first.finish().status == 0)
    }

    @Test(arguments: [
        (["--console", "x"], "is not an address with a port"),
        (["--console", "0.0.0.0:0"], "requires TLS and a token"),
        (["--console", "0", "--console-certificate", "/none"], "must be used together"),
        (["--console", "0", "--console-token", "hunter2"], "given as env:NAME, file:PATH or credential:NAME"),
        (["--console", "0", "--console-token", "env:NO_SUCH_VARIABLE"], "is not set"),
        (["--console-read-only"], "--console-read-only is for the console in a browser: add --console"),
        (["--console-certificate", "/none", "--console-key", "/none"], "--console-certificate is for"),
        (["--console-token", "env:NO_SUCH_VARIABLE"], "--console-token is for"),
    ])
    func `unsafe or invalid options are refused before a gate opens`(_ words: [String], _ reason: String) async throws {
        let result = try await Program(directory: FixturePlugins.root).start(["run", "--simulate"] + words).finish()
        #expect(result.status == 64)
        #expect(result.error.contains(reason), "\(result.error)")
        #expect(!result.error.contains("gate opened") && !result.error.contains("hunter2"))
    }
}
