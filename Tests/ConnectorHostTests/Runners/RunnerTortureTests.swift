// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorHostTesting
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorPlatform

    /// Runners that end again and again, and what is left of them: nothing.
    ///
    /// `make test` does forty rounds of each kind, `make torture` as many as `CONNECTOR_TORTURE_CRASHES` says.
    @Suite(
        .timeLimit(.minutes(60)),
        .serialized,
        .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
    )
    struct RunnerTortureTests {
        private static let rounds =
            unsafe getenv("CONNECTOR_TORTURE_CRASHES").flatMap { unsafe Int(String(cString: $0)) } ?? 40

        /// What a process has of the system.
        private struct Holdings {
            var descriptors: Int
            var mappings: Int
            var threads: Int
            /// Zombies are among them.
            var children: Int
            var sharedFiles: Set<String>
            var temporaryFiles: Set<String>

            init() throws {
                func names(_ path: String) throws -> Set<String> {
                    Set(try Directory.entries(of: path).map(\.name))
                }
                descriptors = try names("/proc/self/fd").count
                mappings = systemLines("/proc/self/maps").count
                let threads = try names("/proc/self/task")
                self.threads = threads.count
                children = threads.flatMap { systemLines("/proc/self/task/\($0)/children") }
                    .reduce(0) { $0 + $1.split(separator: " ").count }
                // Other tests give programs another time by libfaketime, which has files of its own.
                sharedFiles = try names("/dev/shm").filter { !$0.contains("faketime") }
                temporaryFiles = try names(ConnectorPlatform.TemporaryDirectory.parent)
            }
        }

        /// Ends the gate's runner in rounds, waits each time until the gate is open in another one, and compares what is held.
        ///
        /// - Parameter sandbox: With `default`, a runner is the successor of the process that the host starts.
        private func repeats(in sandbox: String, _ end: (TestHost, Int) async throws -> Void) async throws {
            let heal = #""heal": {"initial": "1s", "max": "1s"}"#
            let settings = #""probe": "off", "isolation": "process", "sandbox": "\#(sandbox)", \#(heal)"#
            let test = try TestHost(TestHost.leaf("gate", plugin: "crashes", settings: settings))
            #expect(await test.host.open().isReady)
            func round(_ number: Int) async throws {
                let process = pid_t(try #require(test.host.report.runners.first?.process))
                let generation = try test.gate("gate").generation
                try await end(test, number)
                while try test.gate("gate").generation == generation || test.state("gate") != .open {
                    if let next = try test.gate("gate").nextAttemptAt, next > test.clock.wallTime() {
                        test.clock.advance(by: .seconds(1))
                    }
                    try await Task.checkedYield()
                }
                // Reaped, so that the number is nobody's.
                while kill(process, 0) == 0 { try await Task.checkedYield() }
            }
            // The first rounds make what is kept: threads, arenas, caches.
            for number in 0..<10 { try await round(number) }
            let before = try Holdings()
            for number in 0..<Self.rounds { try await round(number) }
            let after = try Holdings()
            #expect(after.descriptors <= before.descriptors + 2)
            #expect(after.mappings <= before.mappings + 32)
            #expect(after.threads <= before.threads + 8)
            #expect(after.children <= before.children)
            #expect(after.sharedFiles.subtracting(before.sharedFiles).isEmpty)
            #expect(after.temporaryFiles.subtracting(before.temporaryFiles).isEmpty)
            let runners = test.host.report.runners.map { pid_t($0.process) }
            await test.host.close()
            for process in runners { while kill(process, 0) == 0 { try await Task.checkedYield() } }
        }

        @Test(arguments: ["off", "default"])
        func `crashes leave no zombie, descriptor, mapping, thread or file`(sandbox: String) async throws {
            // The first process of a namespace cannot kill itself.
            let ways = ["null", "abort", "exit-well"] + (sandbox == "off" ? ["kill"] : [])
            try await repeats(in: sandbox) { test, round in
                let how = JSONValue.string(ways[round % ways.count])
                let error = try await failure { () throws(ConnectorError) in
                    try await test.call("gate", "crash", ["how": how])
                }
                #expect(error.code == .crashed)
            }
        }

        @Test(arguments: ["off", "default"])
        func `runners that are killed leave none of these either`(sandbox: String) async throws {
            try await repeats(in: sandbox) { test, _ in
                let runner = try #require(test.host.report.runners.first)
                kill(pid_t(runner.process), SIGKILL)
            }
        }
    }
#endif
