// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#endif

/// Which program runners are, and that host and runner are of one version.
@Suite(.timeLimit(.minutes(2)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
struct RunnerProgramTests {
    private static func installed() throws(ConnectorError) -> RunnerProgram {
        try RunnerProgram.find(
            path: nil,
            environment: { _ in nil },
            directory: ConnectorHost.Options.executableDirectory
        )
    }

    /// A pool that starts one program.
    private static func pool(_ program: RunnerProgram) -> RunnerPool {
        RunnerPool { () throws(ConnectorError) in
            program
        } onLine: { _, _ in
        }
    }

    private static func key(_ name: String) -> RunnerPool.Key {
        RunnerPool.Key(name, sandbox: SandboxSettings(level: .off))
    }

    @Test func `a runner that is not there is an error with the places that were searched`() async throws {
        let error = try #require(throws: ConnectorError.self) {
            try RunnerProgram.find(path: nil, environment: { $0 == "PATH" ? "/nowhere" : nil }, directory: "/none")
        }
        #expect(error.code == .notFound)
        #expect(error.cause?.contains("/none/connector-runner") == true)
        #expect(error.cause?.contains("/nowhere/connector-runner") == true)
        let named = try #require(throws: ConnectorError.self) {
            try RunnerProgram.find(
                path: nil,
                environment: { $0 == RunnerProgram.variable ? "/none" : nil },
                directory: nil
            )
        }
        #expect(named.message.contains("CONNECTOR_RUNNER"))
    }

    @Test func `the program is found by the option, the variable, beside the host, in libexec, and in PATH`() throws {
        let directory = ScratchDirectory()
        defer { withExtendedLifetime(directory) {} }
        let folders = ["option", "variable", "bin", "libexec", "libexec/connector-host", "path"]
        let files = folders.map { "\(directory.path)/\($0)/connector-runner" }
        for (folder, file) in zip(folders, files) {
            let program = "'\(file)'"
            try #require(
                Fixtures.run("mkdir -p '\(directory.path)/\(folder)' && : > \(program) && chmod 755 \(program)") == 0
            )
        }
        var options = ConnectorHost.Options(environment: Configuration.Environment([RunnerProgram.variable: files[1]]))
        options.runner = files[0]
        #expect(try options.runnerProgram(requiresTrust: false).path == files[0])
        options.runner = nil
        #expect(try options.runnerProgram(requiresTrust: false).path == files[1])

        let path = "bin:\(directory.path)/none:\(directory.path)/path"
        let bin = "\(directory.path)/bin"
        let found = [
            files[2], "\(bin)/../libexec/connector-runner", "\(bin)/../libexec/connector-host/connector-runner",
            files[5],
        ]
        for (file, place) in zip(files.dropFirst(2), found) {
            let program = try RunnerProgram.find(
                path: nil,
                environment: { $0 == "PATH" ? path : "" },
                directory: bin
            )
            #expect(program.path == place)
            try #require(unsafe unlink(file) == 0)
        }
    }

    #if os(Linux)
        /// They would make each runner start more slowly, and larger. The host, which has them, shows that they would be found.
        @Test(arguments: [("connector-runner", 1), ("connector-host", 0)])
        func `the program contains and loads neither Foundation nor NIO nor AsyncHTTPClient`(
            _ program: String,
            _ status: Int32
        ) throws {
            let directory = try #require(ConnectorHost.Options.executableDirectory)
            let words = "Foundation|NIOCore|AsyncHTTPClient"
            #expect(Fixtures.run("LC_ALL=C grep -aqE '\(words)' '\(directory)/\(program)'") == status)
        }
    #endif

    @Test func `a host for tests finds the program by the variable of the tests' process`() async {
        await #expect(processExitsWith: .success) {
            try #require(unsafe setenv("CONNECTOR_RUNNER", "/nowhere/connector-runner", 1) == 0)
            let settings = RunnerCallTests.process + #", "retry": {"attempts": 1}"#
            let test = try TestHost(TestHost.leaf("gate", plugin: "crashes", settings: settings))
            let report = await test.host.open()
            let error = try #require(report["gate"]?.error)
            #expect(error.treeDescription.contains("/nowhere/connector-runner"), "\(error)")
            await test.host.close()
        }
    }

    @Test func `a program that was overwritten in place is not started`() throws {
        try Fixtures.withDirectory { directory in
            let path = "\(directory)/connector-runner"
            try #require(Fixtures.run("cp '\(Self.installed().path)' '\(path)'") == 0)
            let program = try RunnerProgram(path: path)
            let pool = Self.pool(program)
            // It would still run.
            try #require(Fixtures.run("printf x >> '\(path)'") == 0)
            program.seal()
            let error = #expect(throws: ConnectorError.self) { _ = try pool.hold(Self.key("gate")) }
            #expect(error?.message == "\(path) has been overwritten since the host opened it")
        }
    }

    #if os(Linux)
        /// Whether a runner was started from sealed memory.
        private static func isFromMemory(_ runner: Runner) -> Bool {
            Fixtures.run("readlink /proc/\(runner.processNumber)/exe | grep -q memfd:connector-runner") == 0
        }

        @Test func `once a runner has answered, the next is the same program, whatever has become of its file`() throws
        {
            try Fixtures.withDirectory { directory in
                let path = "\(directory)/connector-runner"
                try #require(Fixtures.run("cp '\(Self.installed().path)' '\(path)'") == 0)
                func pool() -> RunnerPool {
                    RunnerPool { () throws(ConnectorError) in
                        try RunnerProgram(path: path)
                    } onLine: { _, _ in
                    }
                }
                let running = pool()
                var runners = [try running.hold(Self.key("first"))]
                // As package managers replace files, and remove them.
                try Fixtures.write(Array("no program".utf8), to: "\(path).new")
                try #require(Fixtures.run("chmod 755 '\(path).new' && mv '\(path).new' '\(path)'") == 0)
                runners.append(try running.hold(Self.key("second")))
                let fresh = #expect(throws: ConnectorError.self) { _ = try pool().hold(Self.key("first")) }
                #expect(fresh?.message == "\(path) cannot be started")
                try #require(unsafe unlink(path) == 0)
                runners.append(try running.hold(Self.key("third")))
                #expect(Set(runners.map(\.processNumber)).count == 3 && runners.allSatisfy(\.isAlive))
                for runner in runners { runner.release() }
            }
        }

        @Test func `what is written in place into the program of a runner that has answered never runs`() async throws {
            let directory = ScratchDirectory()
            defer { withExtendedLifetime(directory) {} }
            let (path, mark) = ("\(directory.path)/connector-runner", "\(directory.path)/mark")
            try #require(Fixtures.run("cp '\(Self.installed().path)' '\(path)'") == 0)
            let program = try RunnerProgram(path: path)
            let file = try program.image()
            let pool = Self.pool(program)
            let first = try pool.hold(Self.key("first"))
            while try program.image() === file { try await Task.checkedYield() }
            #expect(!Self.isFromMemory(first))
            first.release()
            // The system lets nobody write into a file that runs.
            await first.ended.wait()
            try #require(Fixtures.run("printf '#!/bin/sh\\ntouch %s\\n' '\(mark)' > '\(path)'") == 0)
            // It would run, and leave its mark.
            try #require(Fixtures.run("'\(path)' && rm '\(mark)'") == 0)
            let second = try pool.hold(Self.key("second"))
            #expect(second.isAlive && Self.isFromMemory(second))
            #expect(unsafe access(mark, F_OK) == -1)
            second.release()
            await second.ended.wait()
        }

        @Test func `hosts share the sealed copy of one program, and not that of another`() throws {
            try Fixtures.withDirectory { directory in
                let path = "\(directory)/connector-runner"
                try #require(Fixtures.run("cp '\(Self.installed().path)' '\(path)'") == 0)
                let programs = [try RunnerProgram(path: path), try RunnerProgram(path: path)]
                for program in programs { program.seal() }
                let images = [try programs[0].image(), try programs[1].image()]
                #expect(images[0] === images[1] && images[0].file.number != -1)
                let (size, sealed) = (FileStamp(path: path)?.size, FileStamp(descriptor: images[0].file.number)?.size)
                #expect(size != nil && size == sealed)
                // It would still run.
                try #require(Fixtures.run("printf x >> '\(path)'") == 0)
                let other = try RunnerProgram(path: path)
                let file = try other.image()
                other.seal()
                #expect(try other.image() !== file)
                #expect(try other.image() !== images[0])
            }
        }

        @Test func `where the system runs no program from memory, runners are started from the file`() async throws {
            let program = try Self.installed()
            let pool = Self.pool(program)
            let file = try program.image()
            program.seal()
            let sealed = try program.image()
            #expect(sealed !== file && program.unseal(sealed))
            #expect(try program.image() === file)
            #expect(!program.unseal(file))
            let runner = try pool.hold(Self.key("gate"))
            #expect(runner.isAlive)
            runner.release()
            await runner.ended.wait()
        }

        /// As `scripts/install` lays the program out, with the libraries of Swift in a directory beside its own.
        @Test func `a runner that finds its libraries relative to its file finds them from memory, too`() async throws {
            let directory = ScratchDirectory()
            defer { withExtendedLifetime(directory) {} }
            let path = "\(directory.path)/libexec/connector-runner"
            let installed = try Self.installed().path
            let script = #"""
                set -e
                cd '\#(directory.path)'
                mkdir libexec
                old=$(readelf -d '\#(installed)' | sed -n 's/.*RUNPATH.*\[\(.*\)\]/\1/p')
                ln -s "${old%%:*}" lib
                new='$ORIGIN/../lib'
                rest=$(printf "%$((${#old} - ${#new}))s" '' | sed 's/ /\\x00/g')
                old=$(printf %s "$old" | sed 's/[$.]/\\&/g')
                LC_ALL=C sed "s|$old|$new$rest|" '\#(installed)' > libexec/connector-runner
                chmod 755 libexec/connector-runner
                """#
            try #require(Fixtures.run(script) == 0)
            let program = try RunnerProgram(path: path)
            let file = try program.image()
            let pool = Self.pool(program)
            let first = try pool.hold(Self.key("first"))
            while try program.image() === file { try await Task.checkedYield() }
            #expect(try program.image().variable == "LD_LIBRARY_PATH=\(directory.path)/libexec/../lib")
            let second = try pool.hold(Self.key("second"))
            #expect(second.isAlive && Self.isFromMemory(second))
            for runner in [first, second] { runner.release() }
            await second.ended.wait()
        }
    #endif

    @Test func `what keeps a runner from starting is named, and not its program instead`() {
        let path = "/usr/bin/connector-runner"
        #expect(RunnerProgram.failure(path, EACCES).fix == "check that it is connector-runner, and may be executed")
        #expect(RunnerProgram.failure(path, EMFILE).fix?.contains("open files") == true)
        #expect(RunnerProgram.failure(path, EAGAIN).fix?.contains("processes") == true)
        #expect(RunnerProgram.noInput(EACCES).message.contains("/dev/null cannot be opened"))
        let shortage = Runner.shortage(ETOOMANYREFS)
        #expect(shortage.message.contains("too many are in flight") && shortage.isRetryable)
    }

    @Test func `a program that is not a runner is not kept`() throws {
        try Fixtures.withDirectory { directory in
            let path = "\(directory)/connector-runner"
            try Fixtures.write(Array("no program".utf8), to: path)
            try #require(Fixtures.run("chmod 755 '\(path)'") == 0)
            let pool = RunnerPool { () throws(ConnectorError) in
                try RunnerProgram(path: path)
            } onLine: { _, _ in
            }
            let key = RunnerPool.Key("gate", sandbox: SandboxSettings(level: .off))
            #expect(throws: ConnectorError.self) { _ = try pool.hold(key) }
            try #require(Fixtures.run("cp '\(Self.installed().path)' '\(path).new' && mv '\(path).new' '\(path)'") == 0)
            try pool.hold(key).release()
        }
    }

    @Test func `where trust is strict, a program that others may write is refused`() async throws {
        let directory = ScratchDirectory()
        let path = "\(directory.path)/connector-runner"
        try #require(Fixtures.run("cp '\(Self.installed().path)' '\(path)' && chmod 777 '\(path)'") == 0)
        let settings = #""isolation": "process", "sandbox": "off", "probe": "off", "retry": {"attempts": 1}"#
        let leaf = TestHost.leaf("gate", plugin: "crashes", settings: settings)
        func opened(_ trust: String) async throws -> Report {
            let host = try ConnectorHost.testing(
                #"{"version": 1, "trust": "\#(trust)", "connectors": [\#(leaf)]}"#,
                plugins: [Fixtures.contract("crashes")],
                environment: [RunnerProgram.variable: path]
            )
            let report = await host.open()
            await host.close()
            return report
        }
        let error = try #require(try await opened("strict")["gate"]?.error)
        #expect(error.code == .denied && error.message.contains(path), "\(error)")
        #expect(try await opened("warn")["gate"]?.state == .open)
    }

    @Test func `a runner of version 1 is refused, with both versions, and ends`() async throws {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                plugin: "values",
                settings: #""isolation": "process", "sandbox": "off", "probe": "off""#
            ),
            environment: [RunnerProgram.variable: "\(Fixtures.build)/tools/frozen-runner"]
        )
        let report = await test.host.open()
        let error = try #require(report["gate"]?.error)
        #expect(error.code == .unsupported, "\(error)")
        #expect(
            error.message.contains("the runner speaks version 1 (layout 1)")
                && error.message.contains("the host version \(Handshake.version) (layout \(Handshake.layout))"),
            "\(error)"
        )
        #expect(error.fix == "install connector-host and connector-runner of one build")
        #expect(test.host.dependencies.runners.runners.isEmpty)
        await test.host.close()
    }

    @Test func `a runner refuses a host of version 1, with its own version alone`() throws {
        let child = try RunnerSpawner.shared.begin(Self.installed()).wait()
        var hello = MessageWriter()
        Handshake(version: 1, layout: 1).put(to: &hello)
        let page = try #require(SharedPage())
        let frame = FrameHeader.frame(.hello, instance: 0, hello.bytes, hasDescriptor: true)
        _ = try OutgoingMessages(child.socket).send(frame, page.descriptor)
        var answer: [UInt8] = []
        while true {
            // The host's end does not wait on every system.
            var entry = pollfd(fd: child.socket, events: Int16(POLLIN), revents: 0)
            try #require(unsafe poll(&entry, 1, -1) == 1)
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = unsafe recv(child.socket, &bytes, bytes.count, 0)
            guard count > 0 else { break }
            answer += bytes[..<count]
        }
        let header = try FrameHeader(Array(answer.prefix(FrameHeader.size)))
        #expect(header.kind == .ready && answer.count == FrameHeader.size + header.length && header.length == 12)
        var message = MessageReader(Array(answer.dropFirst(FrameHeader.size)))
        #expect(try Handshake(&message) == .own)
        child.end()
    }
}
