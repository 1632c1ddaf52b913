// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Testing

    /// Hosts that are killed while plugins are in runners: the runners end within a second, and no file is left.
    ///
    /// `make test` does ten rounds, `make torture` as many as `CONNECTOR_TORTURE_CRASHES` says.
    @Suite(.timeLimit(.minutes(60)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
    struct HostKillTortureTests {
        private static let rounds =
            unsafe getenv("CONNECTOR_TORTURE_CRASHES").flatMap { unsafe Int(String(cString: $0)) } ?? 10

        @Test func `runners end with a host that is killed`() async throws {
            let workspace = try Workspace()
            let blocked: JSONValue = [
                "name": "blocked", "plugin": .string(FixturePlugins.misbehaving("blocks-in-life")),
                "config": ["where": "open"], "isolation": "process",
            ]
            let leaves = ["a", "b"].map { name -> JSONValue in
                [
                    "name": .string(name), "plugin": .string(FixturePlugins.good("sync")), "probe": "off",
                    "isolation": "process", "standby": true, "runner": .string(name),
                ]
            }
            try workspace.configure(.array(leaves + [blocked]))
            let temporary = workspace.path + "/temporary"
            try #require(shell("mkdir '\(temporary)'") == 0)
            var program = workspace.program
            program.environment["TMPDIR"] = temporary
            program.environment["XDG_STATE_HOME"] = workspace.path + "/state"
            let before = Self.files
            // By the moment: a loaded machine delays any one end, and runners that end late by themselves do so each time.
            var shortest: [Int: Duration] = [:]
            for round in 0..<Self.rounds {
                let host = try program.start(["run"])
                // At another moment in each round: from the first runner's start until four are there.
                var runners: Set<pid_t> = []
                while runners.count < 1 + round % 4 {
                    runners = Self.children(of: host.identifier)
                    try await Task.checkedYield()
                }
                runners = Self.children(of: host.identifier)
                // Then the first one has long been ready.
                if round % 4 == 3, let first = runners.min() { kill(first, SIGSTOP) }
                host.signal(SIGKILL)
                let start = ContinuousClock.now
                while runners.contains(where: Self.lives) { try await Task.checkedYield() }
                let lasted = ContinuousClock.now - start
                shortest[round % 4] = min(shortest[round % 4] ?? lasted, lasted)
                _ = try await host.finish()
            }
            #expect(shortest.values.allSatisfy { $0 < .seconds(1) }, "\(shortest)")
            #expect(Self.names(temporary).isEmpty)
            #expect(Self.files.subtracting(before).isEmpty)
        }

        /// The runners of a host, as the system lists them.
        private static func children(of host: pid_t) -> Set<pid_t> {
            let tasks = "/proc/\(host)/task"
            var children: Set<pid_t> = []
            for thread in names(tasks) {
                for child in text("\(tasks)/\(thread)/children").split(separator: " ") {
                    guard let number = pid_t(child) else { continue }
                    if text("/proc/\(number)/comm").hasPrefix("connector-runne") { children.insert(number) }
                }
            }
            return children
        }

        /// Whether a process runs; one that has ended may still be listed until its new parent has awaited it.
        private static func lives(_ process: pid_t) -> Bool {
            guard let end = text("/proc/\(process)/stat").split(separator: ")").last else { return false }
            return !end.hasPrefix(" Z") && !end.hasPrefix(" X")
        }

        private static func text(_ path: String) -> String {
            guard let file = unsafe fopen(path, "r") else { return "" }
            defer { unsafe fclose(file) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe fread(&buffer, 1, buffer.count, file)
            return String(decoding: buffer.prefix(count), as: UTF8.self)
        }

        private static func names(_ path: String) -> [String] {
            guard let directory = unsafe opendir(path) else { return [] }
            defer { unsafe closedir(directory) }
            var names: [String] = []
            while let entry = unsafe readdir(directory) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
                }
                if name.first != "." { names.append(name) }
            }
            return names
        }

        private static var files: Set<String> { Set(names("/dev/shm")) }
    }
#endif
