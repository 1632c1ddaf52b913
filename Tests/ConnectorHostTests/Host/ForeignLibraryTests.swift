// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Existing libraries as gates, by a sidecar alone.
@Suite(.timeLimit(.minutes(10))) struct ForeignLibraryTests {
    private static func has(_ library: String) -> Bool { unsafe dlopen(library, RTLD_NOW | RTLD_LOCAL) != nil }

    private static func example(_ name: String) -> String {
        "\(Fixtures.sources.parentPath.parentPath)/Examples/Foreign/\(name).connector.json"
    }

    // MARK: zlib

    @Test(.enabled("libz.so.1 is not installed") { has("libz.so.1") }, arguments: TestChannel.all)
    func `zlib's checksums and version are called without an adapter`(channel: TestChannel) async throws {
        let zlib = try await ForeignGate.opened(
            TestHost.leaf("gate", plugin: "zlib", settings: channel.settings),
            Self.example("zlib")
        )
        #expect(zlib.report.state == .open)
        #expect(zlib.report.strongestEvidence?.kind == .configured)
        #expect(try await zlib.gate.call("crc32", ["crc": 0, "data": "123456789"]) == 0xCBF4_3926)
        #expect(try await zlib.gate.call("adler32", ["adler": 1, "data": "Wikipedia"]) == 0x11E6_0398)
        #expect(try await zlib.gate.call("adler32", ["adler": 1, "data": ["base64": ""]]) == 1)
        let version = try #require(try await zlib.gate.call("zlibVersion").string)
        #expect(version.first == "1")
        #expect(version.contains("."))
        await zlib.host.close()
    }

    @Test(.enabled("libz.so.1 is not installed") { has("libz.so.1") })
    func `the handle that opening returns goes to every call, and to closing`() async throws {
        try await Fixtures.withDirectory { directory in
            let sidecar = "\(directory)/gzip.connector.json"
            // The handle has the name of the field that it is opened with.
            let manifest = """
                {"manifest": 1, "id": "gzip", "version": "1.0.0", "abi": [1, 1], "library": "libz.so.1",
                 "configuration": {"file": {"required": true}, "mode": {"default": "wT"}},
                 "lifecycle": {"open": "open", "close": "close"},
                 "capabilities": {"gzip/1": {
                   "open": {"symbol": "gzopen", "signature": "(file: cstring, mode: cstring) -> (file: handle)",
                            "status": "null"},
                   "puts": {"symbol": "gzputs", "signature": "(file: handle, text: cstring) -> i32",
                            "status": "negative"},
                   "close": {"symbol": "gzclose", "signature": "(file: handle)", "status": "zero"}
                 }}}
                """
            try Fixtures.write(Array(manifest.utf8), to: sidecar)
            let file = "\(directory)/file"
            let gzip = try await ForeignGate.opened(
                TestHost.leaf("gate", plugin: "gzip", ["file": .string(file)]),
                sidecar
            )
            try #require(gzip.report.state == .open, "\(gzip.report)")
            #expect(try await gzip.gate.call("puts", "hello") == 5)
            await gzip.host.close()
            // zlib writes the file when it is closed.
            #expect(try Fixtures.bytes(file) == Array("hello".utf8))
        }
    }

    @Test(arguments: TestChannel.all)
    func `a call gets the handle that opening returns, wherever the library is`(channel: TestChannel) async throws {
        try await Fixtures.withDirectory { directory in
            let sidecar = "\(directory)/locale.connector.json"
            let manifest = """
                {"manifest": 1, "id": "locale", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6",
                 "configuration": {"mask": {"type": "integer", "default": 1}, "name": {"default": "C"}},
                 "lifecycle": {"open": "open", "close": "close"},
                 "capabilities": {"locale/1": {
                   "open": {"symbol": "newlocale", "signature": "(mask: i32, name: cstring, base: handle?) -> (locale: handle)",
                            "status": "null"},
                   "upper": {"symbol": "toupper_l", "signature": "(letter: i32, locale: handle) -> i32"},
                   "close": {"symbol": "freelocale", "signature": "(locale: handle)"}
                 }}}
                """
            try Fixtures.write(Array(manifest.utf8), to: sidecar)
            let leaf = TestHost.leaf("gate", plugin: "locale", settings: channel.settings)
            let locale = try await ForeignGate.opened(leaf, sidecar)
            try #require(locale.report.state == .open, "\(locale.report)")
            #expect(try await locale.gate.call("upper", ["letter": 97]) == 65)
            #expect(try locale.gate.definition(of: "upper").operation.signature.description == "(letter: i32) -> i32")
            await locale.host.close()
        }
    }

    @Test(arguments: TestChannel.all)
    func `a value that opening cannot take is an error with a remedy for the file`(channel: TestChannel) async throws {
        try await Fixtures.withDirectory { directory in
            let sidecar = "\(directory)/length.connector.json"
            let manifest = """
                {"manifest": 1, "id": "length", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6",
                 "configuration": {"text": {}, "rest": {"type": "json", "default": ""}}, "lifecycle": {"open": "open"},
                 "capabilities": {"length/1": {
                   "open": {"symbol": "strlen", "signature": "(text: cstring, rest: bytes) -> u64"}}}}
                """
            try Fixtures.write(Array(manifest.utf8), to: sidecar)
            let config: JSONObject = ["text": "a", "rest": .null]
            let leaf = TestHost.leaf("gate", plugin: "length", config, settings: channel.settings)
            let length = try await ForeignGate.opened(leaf, sidecar)
            let error = try #require(length.report.error)
            #expect(error.message.contains("open needs \"rest\""), "\(error)")
            let advice = "\(error.fix ?? "") \(error.cause ?? "")"
            #expect(advice.contains("correct the value in the connector's \"config\""), "\(error)")
            await length.host.close()
            let empty = TestHost.leaf("gate", plugin: "length", ["text": ""], settings: channel.settings)
            let shortest = try await ForeignGate.opened(empty, sidecar)
            #expect(shortest.report.state == .open, "\(shortest.report.error?.treeDescription ?? "")")
            await shortest.host.close()
        }
    }

    // MARK: Functions that block

    @Test func `a function that blocks is no misbehaviour, and its caller is told to give it more time`() async throws {
        let pipe = try Pipe()
        defer { pipe.close() }
        try await Fixtures.withDirectory { directory in
            let sidecar = "\(directory)/pipe.connector.json"
            let manifest = """
                {"manifest": 1, "id": "pipe", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6",
                 "capabilities": {"pipe/1": {
                   "take": {"symbol": "read", "signature": "(file: i32, into: handle?, count: u64) -> i64"}}}}
                """
            try Fixtures.write(Array(manifest.utf8), to: sidecar)
            let leaf = TestHost.leaf("gate", plugin: "pipe", settings: #""probe": "off", "isolation": "none""#)
            let clock = ManualHostClock()
            let reader = try await ForeignGate.opened(leaf, sidecar, clock: clock)
            let call = Task {
                try await failure { () throws(ConnectorError) in
                    try await reader.gate.call(
                        "take",
                        ["file": .integer(Int64(pipe.reading)), "count": 1],
                        options: CallOptions(timeout: .seconds(2))
                    )
                }
            }
            func isInside() -> Bool {
                reader.host.dependencies.generations.functionsInside.contains { $0.text.hasPrefix("take (read) ") }
            }
            while !isInside() { try await Task.checkedYield() }
            await clock.advance(toTimerAfter: .seconds(2))
            let error = try await call.value
            #expect(error.message == "take did not return within 2.0 s")
            let fix = "increase the timeout; take (read) goes on, and holds a thread of the host until it returns"
            #expect(error.fix == fix)
            let count = unsafe write(pipe.writing, "a", 1)
            #expect(count == 1)
            while isInside() { try await Task.checkedYield() }
            await reader.host.close()
            #expect(reader.host.report["gate"]?.misbehaviourCount == 0)
        }
    }

    // MARK: SQLite

    private static let sqlite: Comment = "libsqlite3.so.0 is not installed"

    @Test(.enabled(sqlite) { has("libsqlite3.so.0") })
    func `SQLite is opened, queried and closed as a gate`() async throws {
        let file = "/tmp/connector-sqlite-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"
        defer { unsafe unlink(file) }
        let leaf = TestHost.leaf("gate", plugin: "sqlite", ["filename": .string(file)])
        for round in 1...2 as ClosedRange<Int64> {
            let sqlite = try await ForeignGate.opened(leaf, Self.example("sqlite"))
            #expect(sqlite.report.state == .open)
            let db = Statements(gate: sqlite.gate)
            try await db.run("CREATE TABLE IF NOT EXISTS place(id INTEGER PRIMARY KEY, name TEXT, height REAL)")
            try await db.run("INSERT INTO place(name, height) VALUES ('Zürich', 408.5), (NULL, -1)")
            #expect(try await sqlite.gate.call("changes") == 2)
            let statement = try await db.prepare("SELECT count(*), name, height FROM place GROUP BY name ORDER BY name")
            #expect(try await sqlite.gate.call("step", ["statement": statement]) == 100)
            #expect(
                try await sqlite.gate.call("columnInt64", ["statement": statement, "column": 0]) == .integer(round)
            )
            #expect(try await sqlite.gate.call("columnText", ["statement": statement, "column": 1]) == nil)
            #expect(try await sqlite.gate.call("step", ["statement": statement]) == 100)
            #expect(try await sqlite.gate.call("columnText", ["statement": statement, "column": 1]) == "Zürich")
            #expect(try await sqlite.gate.call("columnDouble", ["statement": statement, "column": 2]) == 408.5)
            #expect(try await sqlite.gate.call("step", ["statement": statement]) == 101)
            try await sqlite.gate.call("finalize", ["statement": statement])
            await sqlite.host.close()
            #expect(sqlite.host.report["gate"]?.state == .closed)
        }
    }

    @Test(.enabled(sqlite) { has("libsqlite3.so.0") }, arguments: TestChannel.all)
    func `a failure of SQLite is an error with its number`(channel: TestChannel) async throws {
        let sqlite = try await ForeignGate.opened(
            TestHost.leaf("gate", plugin: "sqlite", settings: channel.settings),
            Self.example("sqlite")
        )
        let db = Statements(gate: sqlite.gate)
        let syntax = try await failure { () throws(ConnectorError) in try await db.prepare("SELEKT 1") }
        #expect(syntax.code == .invalid)
        #expect(syntax.cause == "sqlite3_prepare_v2: 1")
        #expect(try await sqlite.gate.call("errmsg") == "near \"SELEKT\": syntax error")
        try await db.run("CREATE TABLE one(id INTEGER PRIMARY KEY)")
        try await db.run("INSERT INTO one VALUES (1)")
        let conflict = try await failure { () throws(ConnectorError) in try await db.run("INSERT INTO one VALUES (1)") }
        #expect(conflict.code == .conflict)
        #expect(conflict.message == "sqlite3_step returned 19")
        await sqlite.host.close()
    }

    @Test(.enabled(sqlite) { has("libsqlite3.so.0") })
    func `a file that SQLite cannot open fails the gate`() async throws {
        let leaf = TestHost.leaf("gate", plugin: "sqlite", ["filename": "/nowhere/at/all.db"])
        let sqlite = try await ForeignGate.opened(leaf, Self.example("sqlite"))
        #expect(sqlite.report.state == .failed)
        #expect(sqlite.report.error?.code == .unavailable)
        #expect(sqlite.report.error?.message == "sqlite3_open returned 14")
    }

    @Test(.enabled(sqlite) { has("libsqlite3.so.0") }, arguments: TestChannel.all)
    func `an application can neither pass what the host fills in nor call what only the host calls`(
        channel: TestChannel
    ) async throws {
        let sqlite = try await ForeignGate.opened(
            TestHost.leaf("gate", plugin: "sqlite", settings: channel.settings),
            Self.example("sqlite")
        )
        for name in ["open", "close", "sqlite/close"] {
            let error = try await failure { () throws(ConnectorError) in try await sqlite.gate.call(name) }
            #expect(error.code == .invalid)
            #expect(error.message.contains("only the host calls"))
        }
        let bound = try await failure { () throws(ConnectorError) in
            try await sqlite.gate.call("errmsg", ["db": ["handle": 1]])
        }
        #expect(bound.message == "errmsg has no parameter \"db\"")
        let made = try await failure { () throws(ConnectorError) in
            try await sqlite.gate.call("step", ["statement": ["handle": 1]])
        }
        #expect(made.code == .invalid)
        await sqlite.host.close()
    }

    @Test(.enabled(sqlite) { has("libsqlite3.so.0") }, arguments: TestChannel.all)
    func `callers see neither what the host fills in nor what only the host calls`(
        channel: TestChannel
    ) async throws {
        let sqlite = try await ForeignGate.opened(
            TestHost.leaf("gate", plugin: "sqlite", settings: channel.settings),
            Self.example("sqlite")
        )
        let operations = sqlite.host.operations.connectors.flatMap(\.capabilities).flatMap(\.operations)
        #expect(operations.contains { $0.name == "prepare" })
        #expect(!operations.contains { $0.name == "open" || $0.name == "close" })
        #expect(!operations.contains { $0.signature.parameters.contains { $0.name == "db" } })
        #expect(sqlite.report.capabilities["sqlite/1"]?.contains("open") == false)
        // The console makes a form of this definition.
        let prepare = try sqlite.gate.definition(of: "prepare")
        let reader = ArgumentReader(prepare.operation, of: prepare.capability.id)
        let arguments = try reader.arguments(["SELECT 1"])
        #expect(arguments == ["sql": "SELECT 1"])
        let answers = [
            try await sqlite.gate.call("prepare", arguments), try await sqlite.gate.call("prepare", "SELECT 1"),
        ]
        for answer in answers {
            let statement = answer["statement"] ?? answer
            #expect(try await sqlite.gate.call("step", ["statement": statement]) == 100)
            try await sqlite.gate.call("finalize", ["statement": statement])
        }
        let without = try await failure { () throws(ConnectorError) in try await sqlite.gate.call("prepare") }
        #expect(without.fix == "call it as prepare(sql: bytes32, statement: out handle, tail: handle?)")
        let open = try await failure { () throws(ConnectorError) in try sqlite.gate.definition(of: "open") }
        #expect(open.message.contains("only the host calls open"))
        let unknown = try await failure { () throws(ConnectorError) in try sqlite.gate.definition(of: "opens") }
        #expect(unknown.code == .unsupported && unknown.fix?.contains("open") == false)
        await sqlite.host.close()
    }

    @Test func `callers give no value for what the host fills in, in no form of arguments`() throws {
        let signature = try Signature(parsing: "(db: handle, event: json)")
        let forms = [
            CallArguments(["event": [:]] as JSONObject), CallArguments(positional: [JSONValue.object([:])]),
            CallArguments(texts: [("event", Array("{}".utf8))]),
        ]
        // A runner has the values, and the host none.
        for arguments in forms {
            let values = try arguments.values(for: signature, operation: "put", bound: ["db": .none], handles: nil)
            #expect(values.count == 2)
        }
    }

    @Test(.enabled(sqlite) { has("libsqlite3.so.0") }, arguments: TestChannel.all)
    func `a handle that was released is no longer valid`(channel: TestChannel) async throws {
        let sqlite = try await ForeignGate.opened(
            TestHost.leaf("gate", plugin: "sqlite", settings: channel.settings),
            Self.example("sqlite")
        )
        let statement = try await Statements(gate: sqlite.gate).prepare("SELECT 1")
        try await sqlite.gate.call("finalize", ["statement": statement])
        for name in ["finalize", "step", "reset"] {
            let error = try await failure { () throws(ConnectorError) in
                try await sqlite.gate.call(name, ["statement": statement])
            }
            #expect(error.message.contains("is not a handle of this gate"))
        }
        // The next instance of the gate knows no handle of the earlier one, however many it gives out itself.
        let early = try await Statements(gate: sqlite.gate).prepare("SELECT 3")
        try await sqlite.host.close("gate")
        try await sqlite.host.open("gate")
        for _ in 0..<8 { _ = try await Statements(gate: sqlite.gate).prepare("SELECT 4") }
        let stale = try await failure { () throws(ConnectorError) in
            try await sqlite.gate.call("finalize", ["statement": early])
        }
        #expect(stale.message.contains("is not a handle of this gate"))
        // Of many callers that free one handle at once, one gets through.
        let other = try await Statements(gate: sqlite.gate).prepare("SELECT 2")
        let freed = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { (try? await sqlite.gate.call("finalize", ["statement": other])) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(freed == 1)
        await sqlite.host.close()
    }

    private struct Statements {
        let gate: GateClient

        func prepare(_ sql: String) async throws(ConnectorError) -> JSONValue {
            let answer = try await gate.call("prepare", ["sql": .string(sql)])
            // A single named out parameter is an object of one member.
            return answer["statement"] ?? answer
        }

        func run(_ sql: String) async throws(ConnectorError) {
            let statement = try await prepare(sql)
            do throws(ConnectorError) {
                try await gate.call("step", ["statement": statement])
            } catch {
                try await gate.call("finalize", ["statement": statement])
                throw error
            }
            try await gate.call("finalize", ["statement": statement])
        }
    }
}
