// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHostTesting
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

/// What authors in C, C++ and Rust have besides the ABI.
@Suite(.serialized) struct BindingTests {
    private static let root = Fixtures.sources.parentPath.parentPath
    private static let cargo = "env -u MAKEFLAGS CARGO_TARGET_DIR='\(root)/.build-rust' RUSTFLAGS='-D warnings' cargo"

    /// Builds a plugin in Rust, and returns its image.
    private static func image(of crate: String, in folder: String) throws -> String {
        try #require(Fixtures.run("cd '\(root)/\(folder)' && \(cargo) build --quiet --offline --release") == 0)
        return "\(root)/.build-rust/release/lib\(crate).so"
    }

    @Test(arguments: [
        ("author.c", "cc -std=c99"), ("author.c", "cc -std=c99 -DDECIMAL_COMMA"), ("author.c", "c++ -std=c++17 -x c++"),
        ("classes.cpp", "c++ -std=c++17"),
    ])
    func `the helpers read, write and explain values, and never step beyond the end of a text`(
        _ file: String,
        _ compiler: String
    ) throws {
        try Fixtures.withDirectory { directory in
            let flags =
                "-g -O1 -Wall -Wextra -pedantic -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"
            let include = "-I'\(Self.root)/Sources/CConnector/include'"
            let source = "'\(Fixtures.sources)/authors/\(file)'"
            #expect(Fixtures.run("\(compiler) \(flags) \(include) \(source) -o '\(directory)/author'") == 0)
            #expect(Fixtures.run("'\(directory)/author'") == 0)
        }
    }

    @Test(arguments: ["rust", "swift"])
    func `each language's layout of the structs is generated from the one table`(_ language: String) throws {
        let files = [
            "rust": "Bindings/rust/src/sys/layout.rs", "swift": "Tests/ConnectorHostTests/ABI/LayoutTests.swift",
        ]
        let file = try #require(files[language])
        #expect(
            Fixtures.run("'\(Self.root)/scripts/layout' \(language) | cmp - '\(Self.root)/\(file)'") == 0,
            "make layout"
        )
    }

    @Test(
        .enabled("a compiler is not installed") { Fixtures.has("gcc") && Fixtures.has("clang") },
        arguments: [
            ("c", "gcc -std=c99"), ("c", "clang -std=c99"), ("cpp", "g++ -std=c++17"), ("cpp", "clang++ -std=c++17"),
            ("cpp", "g++ -std=c++20 -fno-exceptions -fno-rtti"),
        ]
    )
    func `the examples compile without a warning, and conform`(_ language: String, _ compiler: String) async throws {
        try await Fixtures.withDirectory { directory in
            let image = "\(directory)/librates.so"
            let flags = "-Wall -Wextra -pedantic -Werror -fPIC -shared -fvisibility=hidden"
            let include = "-I'\(Self.root)/Sources/CConnector/include'"
            let source = "'\(Self.root)/Examples/adapter/\(language)/rates.\(language)'"
            try #require(Fixtures.run("\(compiler) \(flags) \(include) \(source) -o '\(image)'") == 0)
            // Nobody listens there; the suite makes up an App ID.
            let options = PluginConformance.Options(config: ["endpoint": "http://127.0.0.1:1"])
            let findings = await PluginConformance.check(image, options: options)
            #expect(findings.isEmpty, "\(findings)")
        }
    }

    @Test(.enabled("cargo is not installed") { Fixtures.has("cargo") })
    func `the crate passes its tests, and the example in Rust conforms without unsafe code`() async throws {
        #expect(
            Fixtures.run("cd '\(Self.root)/Bindings/rust' && \(Self.cargo) test --quiet --offline > /dev/null") == 0
        )
        let options = PluginConformance.Options(config: ["endpoint": "http://127.0.0.1:1"])
        let image = try Self.image(of: "rates_rust", in: "Examples/adapter/rust")
        let findings = await PluginConformance.check(image, options: options)
        #expect(findings.isEmpty, "\(findings)")
    }

    /// A host with a plugin in Rust that uses the gate `calls`.
    private static func host(
        clock: any HostClock,
        stateDirectory: String,
        settings: String = #""probe": "off""#
    ) async throws -> ConnectorHost {
        let image = try image(of: "services_rust", in: "Tests/Fixtures/authors/rust")
        let findings = await PluginConformance.check(image, options: PluginConformance.Options())
        #expect(findings.isEmpty, "\(findings)")
        let uses = settings + #", "with": {"inner": "calls"}"#
        let host = try ConnectorHost.testing(
            "[\(TestHost.leaf("calls")), \(TestHost.leaf("rust", plugin: "services-rust", settings: uses))]",
            plugins: [Fixtures.contract("calls"), image],
            clock: clock,
            stateDirectory: stateDirectory
        )
        let report = await host.open()
        #expect(report.isReady, "\(report.gates.compactMap(\.error))")
        return host
    }

    @Test(.timeLimit(.minutes(5)), .enabled("cargo is not installed") { Fixtures.has("cargo") })
    func `a plugin in Rust keeps values, sends events and calls what it uses`() async throws {
        let directory = ScratchDirectory()
        let host = try await Self.host(clock: ManualHostClock(), stateDirectory: directory.path)
        let gate = try host.gate("rust")

        #expect(try await gate.call("remember", ["key": "cursor", "value": "1"]) == .null)
        #expect(try await gate.call("remember", ["key": "cursor", "value": "2"]) == "1")
        #expect(try await gate.call("keys", ["prefix": "cur"]) == ["cursor"])
        #expect(try await gate.call("keys", ["prefix": "x"]) == [])
        #expect(try await gate.call("remember", ["key": "cursor"]) == "2")
        #expect(try await gate.call("remember", ["key": "cursor"]) == .null)
        let keyless = try await failure { () async throws(ConnectorError) in
            try await gate.call("remember", ["key": ""])
        }
        #expect(keyless.code == .invalid && keyless.message.hasPrefix("the key is empty"), "\(keyless)")

        var events = host.events(of: "rust").makeAsyncIterator()
        _ = try await gate.call("announce", ["name": "sensor-readings", "value": ["indoor": 21.5]])
        _ = try await gate.call("announce", ["name": "idle", "value": .null])
        let readings = await events.next()
        #expect(readings?.name == "sensor-readings" && readings?.payload == ["indoor": 21.5])
        let idle = await events.next()
        #expect(idle?.name == "idle" && idle?.payload == .null)
        let unnamed = try await failure { () async throws(ConnectorError) in
            try await gate.call("announce", ["name": "8 o'clock", "value": .null])
        }
        #expect(unnamed.message == #"the host refused the event "8 o'clock""#)
        let long = try await failure { () async throws(ConnectorError) in
            try await gate.call("announce", ["name": "long", "value": .string(String(repeating: "x", count: 65_535))])
        }
        let sizes = "its name has 4 bytes, and may have 64; its JSON has 65537, and may have 65536"
        #expect(long.code == .tooLarge && long.message == "the host refused the event \"long\": \(sizes)")

        #expect(try await gate.call("pass", ["operation": "answer", "arguments": ["value": 7]]) == 7)
        #expect(try await gate.call("pass", ["operation": "answer", "arguments": [["a": 1]]]) == ["a": 1])
        let stranger = try await failure { () async throws(ConnectorError) in
            try await gate.call("pass", ["operation": "stranger", "arguments": [:]])
        }
        #expect(stranger.code == .invalid && stranger.message.hasPrefix("calls: calls/1 has no operation"))
        #expect(try await gate.call("bound", ["use": "extra"]) == true)
        #expect(try await gate.call("bound", ["use": "stranger"]) == false)
        #expect(host.report["rust"]?.misbehaviourCount == 0)
        await host.close()
    }

    @Test(.timeLimit(.minutes(5)), .enabled("cargo is not installed") { Fixtures.has("cargo") })
    func `a call in Rust waits by the host's clock, and when it ends, what it waits for ends too`() async throws {
        let (clock, directory) = (ManualHostClock(), ScratchDirectory())
        let host = try await Self.host(clock: clock, stateDirectory: directory.path)
        let options = CallOptions(timeout: .seconds(2_000_000))
        let waiting = Task { try await host.gate("rust").call("wait", ["seconds": 60], options: options) }
        await clock.advance(toTimerAfter: .seconds(60))
        #expect(try await waiting.value == .null)

        let name = TestHost.unique()
        let cancelled = Task {
            try await failure { () async throws(ConnectorError) in
                try await host.gate("rust").call("pass", ["operation": "begin", "arguments": ["name": .string(name)]])
            }
        }
        try await TestHost.taken(name)
        cancelled.cancel()
        #expect(try await cancelled.value.code == .cancelled)
        while try await host.gate("calls").call("counts")["cancels"] != 1 { try await Task.checkedYield() }

        let closed = Task {
            try await failure { () async throws(ConnectorError) in
                try await host.gate("rust").call("wait", ["seconds": 1_000_000], options: options)
            }
        }
        await clock.timer(dueAfter: .seconds(1_000_000))
        async let closing: Void = host.close()
        while host.report["rust"]?.state != .closed {
            if clock.timerCount > 0 { clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
        await closing
        #expect(try await closed.value.code == .notOpen)
        #expect(host.report["rust"]?.misbehaviourCount == 0)
    }

    @Test(
        .timeLimit(.minutes(5)),
        .enabled("cargo is not installed") { Fixtures.has("cargo") },
        arguments: [#""probe": "off""#] + (Sanitizer.isPresent ? [] : [RunnerCallTests.process])
    )
    func `work in Rust uses a gate after the call that began it was given up`(settings: String) async throws {
        let directory = ScratchDirectory()
        let host = try await Self.host(
            clock: SystemHostClock(),
            stateDirectory: directory.path,
            settings: settings
        )
        var events = host.events(of: "rust").makeAsyncIterator()
        let name = TestHost.unique()
        let beginning = Task {
            try await failure { () async throws(ConnectorError) in
                try await host.gate("rust").call("work", ["name": .string(name)])
            }
        }
        try await TestHost.taken(name)
        beginning.cancel()
        #expect(try await beginning.value.code == .cancelled)
        #expect(try await host.gate("calls").call("counts")["cancels"] == 0)
        try await TestHost.finish(name)
        #expect(await events.next()?.payload == true)
        await host.close()
    }
}
