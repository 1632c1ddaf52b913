// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import InMemoryLogging
import Logging
import ServiceLifecycle
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The host as an application sees it.
@Suite(.timeLimit(.minutes(10))) struct ConnectorHostTests {
    @Test func `a host runs as a service until it is cancelled, and closes`() async throws {
        let test = try TestHost(TestHost.leaf("gate"))
        let service = Task { try await test.host.run() }
        _ = await test.host.report { $0["gate"]?.state == .open }
        service.cancel()
        try await service.value
        #expect(test.state("gate") == .closed)
    }

    @Test(arguments: [
        ("[", "1:2"), (#"[{"name": "a", "plugin": 7}]"#, "1:26"), (#"[{"name": "a", "plugin": "nowhere"}]"#, "1:26"),
        ("[\n" + #"{"name": "a", "plugin": 7}]"#, "2:25"), (#"{"version": 1, "connectors": [7]}"#, "1:31"),
    ])
    func `a fault in the connectors of a test has its place in the text that the test wrote`(
        _ text: String,
        _ position: String
    ) {
        let error = #expect(throws: ConfigurationErrors.self) { try ConnectorHost.testing(text) }
        #expect(error?.errors.first?.position?.description == position, "\(String(describing: error))")
    }

    @Test(arguments: ["stateDirectory", "runner", "controlGroup", "pluginDirectories"])
    func `a path of the options that has a NUL is refused, and does not lead elsewhere`(_ name: String) throws {
        let path = "/tmp/\u{0}x"
        var options = ConnectorHost.Options()
        switch name {
        case "stateDirectory": options.stateDirectory = path
        case "runner": options.runner = path
        case "controlGroup": options.controlGroup = path
        default: options.pluginDirectories.append(path)
        }
        let given = options
        let configuration = try Configuration(parsing: #"{"version": 1, "connectors": []}"#)
        let refused = #expect(throws: ConfigurationErrors.self) { try ConnectorHost(configuration, options: given) }
        #expect(refused?.errors.map(\.code) == [.invalidValue])
        #expect(refused?.errors.first?.message == "the option \(name) is \"\(path)\", which cannot be a path")
        let absent = #expect(throws: ConfigurationErrors.self) { try ConnectorHost(file: "/absent", options: given) }
        #expect(absent?.errors.map(\.code) == [.invalidValue])
    }

    @Test func `a host in a service group closes when the group shuts down`() async throws {
        let test = try TestHost(TestHost.leaf("gate"))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [test.host], logger: logger)
        let service = Task { try await group.run() }
        _ = await test.host.report { $0["gate"]?.state == .open }
        await group.triggerGracefulShutdown()
        try await service.value
        #expect(test.state("gate") == .closed)
    }

    @Test func `a service ends when somebody else closes its host`() async throws {
        let test = try TestHost(TestHost.leaf("gate"))
        let service = Task { try await test.host.run() }
        _ = await test.host.report { $0["gate"]?.state == .open }
        await test.host.close()
        try await service.value
        #expect(test.state("gate") == .closed)
    }

    @Test func `a service that awaits the required gates ends when its group shuts down`() async throws {
        let test = try TestHost(TestHost.leaf("bad", ["opens": "refuses"]))
        await test.host.open()
        let ended = try await ServiceEnd.atShutdown { () throws(ConnectorError) in try await test.host.ready() }
        #expect(ended?.code == .cancelled && ended?.message == "the service group shut down first")
        #expect(ended?.cause == "the task was cancelled while it awaited the required gates")
        await test.host.close()
        let closed = try await ServiceEnd.atShutdown { () throws(ConnectorError) in try await test.host.ready() }
        #expect(closed?.code == .notOpen)
    }

    @Test func `a service that shuts down learns that the required gates are open`() async throws {
        let test = try await TestHost.opened()
        #expect(try await ServiceEnd.afterShutdown { () throws(ConnectorError) in try await test.host.ready() } == nil)
        await test.host.close()
    }

    @Test func `a closed host cannot run again, and says so`() async throws {
        let test = try await TestHost.opened()
        await test.host.close()
        let error = await #expect(throws: ConnectorError.self) { try await test.host.run() }
        #expect(error?.message == "the host has closed")
        let report = await test.host.open()
        let missing = #expect(throws: ConnectorError.self) { try report.requireReady() }
        #expect(missing?.description == error?.description)
    }

    @Test func `whatever is asked of a closed host says that it has closed, and what to do`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate"),
            TestHost.composite("group", "first", TestHost.leaf("a"), TestHost.leaf("b"))
        )
        let unopened = try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") }
        #expect(unopened.message == "the gate is closed" && unopened.fix == "open the host first")
        await test.host.open()
        try await test.host.close("gate")
        let closed = try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") }
        #expect(closed.message == "the gate is closed" && closed.fix == "open the host first")
        await test.host.close()
        let errors = [
            try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") },
            try await failure { () throws(ConnectorError) in try await test.call("group", "counts") },
            try await failure { () throws(ConnectorError) in try await test.host.ready() },
            try await failure { () throws(ConnectorError) in try test.host.report.requireReady() },
        ]
        for error in errors {
            #expect(error.code == .notOpen && error.message == "the host has closed" && !error.isRetryable, "\(error)")
            #expect(error.fix == "create a new host from the same file")
        }
    }

    @Test func `a service whose required gate does not open ends with its error and everything closed`() async throws {
        let test = try TestHost(TestHost.leaf("bad", ["opens": "refuses"]), TestHost.leaf("good"))
        let error = await #expect(throws: ConnectorError.self) { try await test.host.run() }
        #expect(error?.code == .unauthorized)
        #expect(error?.connector == "bad")
        #expect(test.host.report.state == .closed)
    }

    @Test func `one connector can be opened alone, with those that it waits for`() async throws {
        let test = try TestHost(
            TestHost.leaf("base"),
            TestHost.leaf("wanted", settings: #""after": ["base"], "probe": "off""#),
            TestHost.leaf("other")
        )
        let report = try await test.host.open("wanted")
        #expect(report.ownGates.map(\.state) == [.open, .open, .closed])
        await #expect(throws: ConnectorError.self) { try await test.host.open("wantd") }
    }

    @Test(arguments: ["gat", ""]) func `events of an unknown connector end at once, and the log says why`(
        _ path: String
    ) async throws {
        let handler = InMemoryLogHandler()
        let test = try TestHost(TestHost.leaf("gate"), logger: Logger(label: "test") { _ in handler })
        var events = test.host.events(of: path).makeAsyncIterator()
        #expect(await events.next() == nil)
        let line = try #require(handler.entries.first { "\($0.message)" == "there are no events to await" })
        let error = "\(line.metadata["error"] ?? "")"
        #expect(line.level == .error && error.contains("there is no enabled connector \"\(path)\""), "\(error)")
    }

    @Test func `a plugin's misbehaviour is in the log, with the gate's path`() async throws {
        let handler = InMemoryLogHandler()
        let test = try TestHost(
            TestHost.leaf("gate", ["opens": "twice"]),
            logger: Logger(label: "test") { _ in handler }
        )
        await test.host.open()
        func misbehaviour() -> InMemoryLogHandler.Entry? {
            handler.entries.first { "\($0.message)" == "plugin misbehaved" }
        }
        // The second completion may come after the gate is open.
        while misbehaviour() == nil { try await Task.checkedYield() }
        let line = try #require(misbehaviour())
        #expect(line.level == .warning)
        #expect(line.metadata["connector"] == "gate")
        #expect("\(line.metadata["what"] ?? "")".contains("which is not pending"))
    }

    @Test func `misbehaviour without end is counted, and has a few lines a second in the log`() async throws {
        let handler = InMemoryLogHandler()
        let test = try TestHost(TestHost.leaf("gate"), logger: Logger(label: "test") { _ in handler })
        await test.host.open()
        for _ in 0..<100 { try await test.call("gate", "invent", ["operation": .integer(.max)]) }
        #expect(handler.entries.count { "\($0.message)" == "plugin misbehaved" } == LineLimit.ofMisbehaviour.lines)
        test.clock.advance(by: .seconds(1))
        try await test.call("gate", "invent", ["operation": .integer(.max)])
        let lines = handler.entries.filter { "\($0.message)" == "plugin misbehaved" }
        #expect(lines.count == LineLimit.ofMisbehaviour.lines + 1)
        #expect(lines.last?.metadata["leftOut"] == "\(100 - LineLimit.ofMisbehaviour.lines)")
        #expect(try test.gate("gate").misbehaviourCount == 101)
        await test.host.close()
    }

    @Test func `a plugin can neither begin a line of its own in the log nor control the terminal that shows it`()
        async throws
    {
        let handler = InMemoryLogHandler()
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes"),
            logger: Logger(label: "test") { _ in handler }
        )
        await test.host.open()
        try await test.call("gate", "note", ["text": "a\n2026 error: forged\u{1B}[2J"])
        let line = try #require(handler.entries.first { "\($0.message)".contains("forged") })
        #expect("\(line.message)" == "a 2026 error: forged\\u{1b}[2J")
        #expect(line.metadata["connector"] == "gate")
        await test.host.close()
    }

    @Test func `metadata is escaped at every depth, names included`() throws {
        let handler = InMemoryLogHandler()
        let logger = Logger(label: "test") { _ in EscapingLogHandler(handler) }
        let inner: Logger.MetadataValue = ["\r": ["b\u{9B}", .stringConvertible(7)]]
        logger.error("plain", metadata: ["a\n": inner, "error": .stringConvertible(Substring("\u{202E}"))])
        let line = try #require(handler.entries.first)
        #expect("\(line.message)" == "plain")
        #expect(line.metadata == ["a ": ["\\u{d}": ["b\\u{9b}", "7"]], "error": "\\u{202e}"])
    }

    @Test func `metadata that a logger keeps for every line is escaped too`() throws {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in EscapingLogHandler(handler) }
        logger[metadataKey: "a\n"] = "b\u{1B}"
        #expect(logger[metadataKey: "a\n"] == "b\\u{1b}")
        logger.error("plain")
        #expect(handler.entries.last?.metadata == ["a ": "b\\u{1b}"])
        logger.handler.metadata = ["c\r": ["d\n"]]
        logger.error("plain")
        #expect(handler.entries.last?.metadata == ["c\\u{d}": ["d "]])
    }

    @Test func `the same file opens in many hosts at once`() async throws {
        let hosts = try (0..<10).map { _ in try TestHost(TestHost.leaf("gate"), TestHost.leaf("two", plugin: "sync")) }
        await withTaskGroup(of: Report.self) { group in
            for test in hosts { group.addTask { await test.host.open() } }
            for await report in group { #expect(report.isReady) }
        }
        for test in hosts { await test.host.close() }
        #expect(hosts.allSatisfy { $0.host.report.state == .closed })
    }

    // MARK: ConnectorHost.testing

    @Test func `a host for tests also takes the text of a whole file`() async throws {
        let host = try ConnectorHost.testing(
            """

            { "version": 1, "connectors": [{ "name": "gate", "plugin": "calls", "config": { "name": "${NAME}" } }] }
            """,
            plugins: [Fixtures.contract("calls")],
            environment: ["NAME": "given"]
        )
        #expect(await host.open().isReady)
        await host.close()
    }

    @Test func `a host for tests throws the faults of its text`() {
        let errors = #expect(throws: ConfigurationErrors.self) {
            try ConnectorHost.testing(#"[{"name": "gate", "plugin": "callz"}]"#, plugins: [Fixtures.contract("calls")])
        }
        #expect(errors?.errors.first?.code == .unknownPlugin)
        #expect(throws: ConfigurationErrors.self) { try ConnectorHost.testing("[") }
    }

    @Test func `a host for tests reads no environment variable of the process`() {
        let errors = #expect(throws: ConfigurationErrors.self) {
            try ConnectorHost.testing(
                #"[{"name": "gate", "plugin": "calls", "config": {"name": "${PATH}"}}]"#,
                plugins: [Fixtures.contract("calls")]
            )
        }
        #expect(errors?.errors.map(\.code) == [.missingVariable])
    }
}
