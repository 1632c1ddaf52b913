// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import InMemoryLogging
    import Logging
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorIsolation

    /// What the sandbox of a runner refuses is told by the report, the log, and the error of a crash.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
    struct RunnerRefusalTests {
        private static let settings = #""probe": "off", "isolation": "process""#

        @Test func `the report names what was refused, from the plugin's constructors on`() async throws {
            let test = try await RunnerSandboxTests.opened(#""default""#)
            let gate = try #require(test.host.report["gate"])
            #expect(gate.sandbox?.hasSuffix("; refused: socket, clone") == true, "\(gate.sandbox ?? "")")
            // It holds: that is why.
            #expect(gate.confinement == .whole)
            #expect(try await RunnerSandboxTests.act(test, "exec", "/bin/true") == EPERM)
            #expect(try await RunnerSandboxTests.act(test, "write", "/tmp/x") == EACCES)
            #expect(try await RunnerSandboxTests.act(test, "exec", "/bin/true") == EPERM)
            let later = try #require(test.host.report["gate"]?.sandbox)
            #expect(later.hasSuffix("; refused: socket, clone, execve, openat"), "\(later)")
            await test.host.close()
        }

        @Test func `a plugin that needs nothing more has nothing refused`() async throws {
            for plugin in [Fixtures.contract("values"), try BuiltProducts.library("settings-file")] {
                let test = try TestHost(TestHost.leaf("gate", plugin: plugin, settings: Self.settings))
                #expect(await test.host.open().isReady)
                let sandbox = try #require(test.host.report["gate"]?.sandbox)
                #expect(!sandbox.contains("refus"), "\(sandbox)")
                await test.host.close()
            }
        }

        @Test func `the log names each refused call once, with what would allow it`() async throws {
            let log = InMemoryLogHandler()
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "hostile", settings: Self.settings),
                logger: Logger(label: "test") { _ in log }
            )
            #expect(await test.host.open().isReady)
            #expect(try await RunnerSandboxTests.act(test, "sockets", "100") == EPERM)
            #expect(try await RunnerSandboxTests.act(test, "inotify") == EPERM)
            await test.host.close()
            let entries = log.entries.filter { "\($0.message)" == "the sandbox refused a plugin's system call" }
            #expect(entries.map { $0.metadata["call"] } == ["socket", "clone", "inotify_init1"])
            #expect(entries.map { $0.metadata["reason"] }.first == "it reaches others")
            let fixes = entries.map { $0.metadata["fix"]?.description ?? "" }
            #expect(fixes.first == #"if the plugin needs it, write "network": true in its "sandbox""#)
            #expect(fixes.dropFirst().first == "no setting of the sandbox allows it")
            #expect(fixes.last?.contains(#"under "read" in its "sandbox""#) == true)
            #expect(entries.last?.metadata["connectors"] == "gate")
        }

        @Test func `the error of a crash names what was refused before`() async throws {
            let test = try await RunnerSandboxTests.opened(#""default""#)
            let error = try await #require(throws: ConnectorError.self) {
                _ = try await RunnerSandboxTests.act(test, "segfault")
            }
            #expect(error.code == .crashed)
            #expect(error.cause?.contains("its sandbox had refused: socket, clone") == true, "\(error)")
            await test.host.close()
        }

        /// More than the host answers in a second.
        @Test func `a plugin that is refused without end waits, and others go on`() async throws {
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "hostile", settings: Self.settings),
                TestHost.leaf("other", plugin: "hostile", settings: Self.settings + #", "runner": "other""#)
            )
            #expect(await test.host.open().isReady)
            async let refused = RunnerSandboxTests.act(test, "sockets", "10500")
            let arguments: JSONObject = ["name": "nothing", "argument": "", "host": 0]
            for _ in 0..<10 { #expect(try await test.call("other", "act", arguments).integer == 0) }
            #expect(try await refused == EPERM)
            await test.host.close()
        }

        @Test func `where nothing can be reported, the calls are refused, and the report says so`() async throws {
            let directory = ScratchDirectory()
            defer { directory.remove() }
            let path = try RunnerSandboxTests.runner(without: "listener", in: directory)
            let test = try TestHost(
                TestHost.leaf(
                    "gate",
                    plugin: "hostile",
                    settings: Self.settings + #", "sandbox": {"level": "required"}"#
                ),
                environment: [RunnerProgram.variable: path]
            )
            #expect(await test.host.open().isReady)
            #expect(try await RunnerSandboxTests.act(test, "exec", "/bin/true") == EPERM)
            let gate = try #require(test.host.report["gate"])
            let sandbox = try #require(gate.sandbox)
            #expect(sandbox.hasSuffix("; refusals are not reported (Invalid argument)"), "\(sandbox)")
            #expect(gate.confinement == .whole)
            await test.host.close()
        }
    }
#endif
