// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A host takes up changes of its files by itself.
@Suite(.timeLimit(.minutes(5))) struct WatchingHostTests {
    private let directory = ScratchDirectory()
    private let clock = ManualHostClock()

    private func write(_ replies: String, name: String = "connectors.json") {
        let leaf = TestHost.leaf("gate", plugin: Fixtures.contract("calls"), ["replies": .string(replies)])
        directory.write(Array(#"{"version": 1, "connectors": [\#(leaf)]}"#.utf8), to: name)
    }

    private func open() async throws -> ConnectorHost {
        var options = ConnectorHost.Options(
            environment: .init([:]),
            pluginDirectories: [],
            clock: clock,
            stateDirectory: directory.path
        )
        options.watchesFiles = true
        let host = try ConnectorHost(file: "\(directory.path)/connectors.json", options: options)
        await host.open()
        // The first look has ended once the watcher waits.
        await clock.timer(dueAfter: FileWatcher.interval)
        return host
    }

    /// Lets files rest until their change has had an effect.
    private func wait(_ host: ConnectorHost, until isDone: (Report) -> Bool) async throws {
        while !isDone(host.report) {
            if clock.hasTimer(dueAfter: FileWatcher.quiet) { clock.advance(by: FileWatcher.quiet) }
            try await Task.checkedYield()
        }
    }

    @Test func `a change is taken up, a bad file changes nothing and says why, and the next good one recovers`()
        async throws
    {
        write("1")
        let host = try await open()
        #expect(host.report.configuration?.watching == FileWatching(hasEvents: true))
        let json = try #require(host.report.configuration?.json)
        let read = try #require(ConfigurationReport(json: json))
        #expect(read.watching?.hasEvents == true)
        let gate = try host.gate("gate")
        let calls = repeating { _ = try await gate.call("answer", ["value": 0]) }
        let first = host.report.configuration?.digest
        write("2")
        try await wait(host) { $0.configuration?.digest != first }
        #expect(try await gate.call("answer", ["value": 0]) == 2)
        let second = host.report.configuration?.digest
        directory.write(Array("{".utf8), to: "connectors.json")
        try await wait(host) { $0.configuration?.differs ?? false }
        #expect(host.report.configuration?.digest == second)
        #expect(host.report.configuration?.errors.first?.code == .syntax)
        #expect(host.report["gate"]?.generation == 2)
        #expect(Fixtures.run("rm '\(directory.path)/connectors.json'") == 0)
        try await wait(host) { $0.configuration?.errors.first?.code == .notFound }
        write("3")
        try await wait(host) { $0.configuration?.differs == false }
        #expect(try await gate.call("answer", ["value": 0]) == 3)
        calls.cancel()
        #expect(try await calls.value > 0)
        await host.close()
        while clock.timerCount > 0 { try await Task.checkedYield() }
    }

    @Test func `a change from before the watch began is taken up`() async throws {
        write("1")
        var options = ConnectorHost.Options(environment: .init([:]), pluginDirectories: [], clock: clock)
        options.stateDirectory = directory.path
        options.watchesFiles = true
        let host = try ConnectorHost(file: "\(directory.path)/connectors.json", options: options)
        let first = host.report.configuration?.digest
        write("2")
        await host.open()
        try await wait(host) { $0.configuration?.digest != first }
        await host.close()
    }

    @Test func `of a hundred writes in a second, the last one wins`() async throws {
        write("0")
        let host = try await open()
        let gate = try host.gate("gate")
        for number in 1...100 {
            write("\(number)", name: "next")
            #expect(unsafe rename("\(directory.path)/next", "\(directory.path)/connectors.json") == 0)
            if clock.timerCount > 0 { clock.advance(by: .milliseconds(10)) }
            await Task.yield()
        }
        while try await gate.call("answer", ["value": 0]) != 100 {
            if clock.timerCount > 0 { clock.advance(by: .milliseconds(50)) }
            try await Task.checkedYield()
        }
        // The successor answers before the reload that has opened it ends.
        while try await !host.plan().isEmpty { try await Task.checkedYield() }
        await host.close()
    }

    @Test func `a new secret opens a successor at once, and a file is taken up when its missing secret comes`()
        async throws
    {
        func write(_ field: String) {
            let leaf = TestHost.leaf(
                "gate",
                plugin: Fixtures.contract("calls"),
                ["key": ["secret": .string("file:\(field)")]]
            )
            directory.write(Array(#"{"version": 1, "connectors": [\#(leaf)]}"#.utf8), to: "connectors.json")
        }
        func rotate(_ name: String, _ secret: String) {
            #expect(Fixtures.run("cd '\(directory.path)' && umask 077 && echo \(secret) > new && mv new \(name)") == 0)
        }
        rotate("key", "first")
        write("key")
        let host = try await open()
        let digest = host.report.configuration?.digest
        rotate("key", "second")
        try await wait(host) { $0["gate"]?.generation == 2 }
        #expect(host.current.tree["gate"]?.gate?.secrets["key"]?.reveal() == "second")
        #expect(host.report.configuration?.digest == digest)
        #expect(try await host.plan().isEmpty)
        write("later")
        try await wait(host) { $0.configuration?.differs ?? false }
        #expect(host.report.configuration?.errors.first?.code == .secretUnavailable)
        rotate("later", "third")
        try await wait(host) { $0.configuration?.differs == false }
        #expect(host.current.tree["gate"]?.gate?.secrets["key"]?.reveal() == "third")
        await host.close()
    }
}
