// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
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

    private func opened(_ leaf: String, _ sidecar: String, clock: ManualHostClock = ManualHostClock()) async throws
        -> Opened
    {
        let host = try ConnectorHost.testing("[\(leaf)]", plugins: [sidecar], clock: clock)
        let report = await host.open()
        return Opened(host: host, gate: try host.gate("gate"), report: try #require(report["gate"]))
    }

    private struct Opened {
        let host: ConnectorHost
        let gate: GateClient
        let report: GateReport
    }

    // MARK: zlib

    @Test(.enabled("libz.so.1 is not installed") { has("libz.so.1") }, arguments: TestChannel.all)
    func `zlib's checksums and version are called without an adapter`(channel: TestChannel) async throws {
        let zlib = try await opened(
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
            let gzip = try await opened(TestHost.leaf("gate", plugin: "gzip", ["file": .string(file)]), sidecar)
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
            let locale = try await opened(leaf, sidecar)
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
            let length = try await opened(leaf, sidecar)
            let error = try #require(length.report.error)
            #expect(error.message.contains("open needs \"rest\""), "\(error)")
            let advice = "\(error.fix ?? "") \(error.cause ?? "")"
            #expect(advice.contains("correct the value in the connector's \"config\""), "\(error)")
            await length.host.close()
            let empty = TestHost.leaf("gate", plugin: "length", ["text": ""], settings: channel.settings)
            let shortest = try await opened(empty, sidecar)
            #expect(shortest.report.state == .open, "\(shortest.report.error?.treeDescription ?? "")")
            await shortest.host.close()
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
            let sqlite = try await opened(leaf, Self.example("sqlite"))
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
        let sqlite = try await opened(
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
        let sqlite = try await opened(leaf, Self.example("sqlite"))
        #expect(sqlite.report.state == .failed)
        #expect(sqlite.report.error?.code == .unavailable)
        #expect(sqlite.report.error?.message == "sqlite3_open returned 14")
    }

    @Test(.enabled(sqlite) { has("libsqlite3.so.0") }, arguments: TestChannel.all)
    func `an application can neither pass what the host fills in nor call what only the host calls`(
        channel: TestChannel
    ) async throws {
        let sqlite = try await opened(
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
        let sqlite = try await opened(
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
        let sqlite = try await opened(
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

    // MARK: Conventions

    /// A gate of a library, by a sidecar that a test writes.
    private func sidecar(
        _ library: String,
        _ operations: String,
        settings: String = TestChannel.here.settings,
        clock: ManualHostClock = ManualHostClock()
    ) async throws -> Opened {
        let path = "/tmp/connector-foreign-\(getpid())-\(UInt64.random(in: 0 ... .max)).connector.json"
        defer { unsafe unlink(path) }
        try Fixtures.write(
            Array(
                """
                {"manifest": 1, "id": "library", "version": "1.0.0", "abi": [1, 1], "library": "\(library)",
                 "capabilities": {"library/1": {\(operations)}}}
                """.utf8
            ),
            to: path
        )
        let leaf = TestHost.leaf("gate", plugin: "library", settings: #""timeout": "5s", "# + settings)
        let opened = try await opened(leaf, path, clock: clock)
        #expect(opened.report.state == .open, "\(opened.report.error?.treeDescription ?? "")")
        return opened
    }

    @Test func `each convention recognises success in its own way`() async throws {
        let operations = """
            "absolute": {"symbol": "abs", "signature": "(value: i32) -> i32"},
            "table": {"symbol": "abs", "signature": "(value: i32) -> i32", "codes": {"5": "conflict"}},
            "zero": {"symbol": "abs", "signature": "(value: i32)", "status": "zero", "codes": {"7": "denied"}},
            "negative": {"symbol": "toupper", "signature": "(value: i32) -> i32", "status": "negative"},
            "variable": {"symbol": "getenv", "signature": "(name: cstring) -> cstring", "status": "null",
                         "codes": {"0": "missing"}},
            "close": {"symbol": "close", "signature": "(file: i32) -> i32", "status": "errno",
                      "codes": {"9": "invalid"}}
            """
        let libc = try await sidecar("libc.so.6", operations)
        #expect(try await libc.gate.call("absolute", ["value": -3]) == 3)
        #expect(try await libc.gate.call("table", ["value": 4]) == 4)
        let tableError = try await failure { () throws(ConnectorError) in
            try await libc.gate.call("table", ["value": -5])
        }
        #expect(tableError.code == .conflict)
        #expect(try await libc.gate.call("zero", ["value": 0]) == nil)
        let denied = try await failure { () throws(ConnectorError) in try await libc.gate.call("zero", ["value": 7]) }
        #expect(denied.code == .denied)
        #expect(denied.message == "abs returned 7")
        #expect(try await libc.gate.call("negative", ["value": 97]) == 65)
        let negativeError = try await failure { () throws(ConnectorError) in
            try await libc.gate.call("negative", ["value": -1])
        }
        #expect(negativeError.code == .failed)
        #expect(try await libc.gate.call("variable", ["name": "PATH"]).string?.isEmpty == false)
        let variableError = try await failure { () throws(ConnectorError) in
            try await libc.gate.call("variable", ["name": "NO_SUCH_VARIABLE_AT_ALL"])
        }
        #expect(variableError.code == .missing)
        let closed = try await failure { () throws(ConnectorError) in try await libc.gate.call("close", ["file": -1]) }
        #expect(closed.code == .invalid)
        #expect(closed.message == "close failed: Bad file descriptor (errno 9)")
    }

    /// A library of functions whose status is no `int`, and leaves the rest of the register as it was.
    private static let statuses = """
        #define EXPORT __attribute__((visibility("default")))
        EXPORT long long high(long long value) { return value << 32; }
        EXPORT unsigned char low(unsigned value) { return (unsigned char)value; }
        EXPORT signed char narrow(int value) { return (signed char)value; }
        """

    @Test(arguments: TestChannel.all)
    func `a status has the type that the manifest gives it`(channel: TestChannel) async throws {
        try await Fixtures.withDirectory { directory in
            let library = try Fixtures.compile(Self.statuses, into: directory, as: "statuses", flags: "-O2")
            let operations = """
                "high": {"symbol": "high", "signature": "(value: i64)", "status": "zero", "statusType": "i64"},
                "below": {"symbol": "high", "signature": "(value: i64)", "status": "negative", "statusType": "i64"},
                "low": {"symbol": "low", "signature": "(value: u32)", "status": "zero", "statusType": "u8"},
                "narrow": {"symbol": "narrow", "signature": "(value: i32)", "status": "errno", "statusType": "i8"},
                "coded": {"symbol": "low", "signature": "(value: u32)", "statusType": "u8", "codes": {"5": "conflict"}}
                """
            let statuses = try await sidecar(library, operations, settings: channel.settings)
            let gate = statuses.gate
            let cases: [(name: String, value: Int64, failure: String?)] = [
                ("high", 0, nil), ("high", 1, "high returned 4294967296"), ("below", 1, nil),
                ("below", -1, "high returned -4294967296"), ("low", 256, nil), ("low", 257, "low returned 1"),
                ("narrow", 254, nil), ("narrow", 255, "narrow failed"), ("coded", 256, nil),
                ("coded", 261, "low returned 5"),
            ]
            for (name, value, expected) in cases {
                let arguments: JSONObject = ["value": .integer(value)]
                guard let expected else {
                    #expect(try await gate.call(name, arguments) == nil, "\(name) \(value)")
                    continue
                }
                let error = try await failure { () throws(ConnectorError) in
                    try await gate.call(name, arguments)
                }
                #expect(error.message.hasPrefix(expected), "\(name) \(value): \(error)")
            }
            await statuses.host.close()
        }
    }

    @Test func `out parameters and buffers come back with the result`() async throws {
        let libm = try await sidecar(
            "libm.so.6",
            #""split": {"symbol": "modf", "signature": "(value: f64, whole: out f64) -> f64"}"#
        )
        #expect(try await libm.gate.call("split", ["value": -3.25]) == ["whole": -3.0, "result": -0.25])
        let operations = """
            "host": {"symbol": "gethostname", "signature": "(name: out cstring) -> i32", "status": "errno"},
            "link": {"symbol": "readlink", "signature": "(path: cstring, target: out bytes) -> i64", "status": "errno"}
            """
        let libc = try await sidecar("libc.so.6", operations)
        let host = try await libc.gate.call("host")
        #expect(host["name"]?.string?.isEmpty == false)
        #expect(host["result"] == 0)
        let link = try await libc.gate.call("link", ["path": "/proc/self/exe"])
        #expect(link["target"]?["base64"]?.string?.isEmpty == false)
        #expect(link["result"]?.integer ?? 0 > 0)
        let linkError = try await failure { () throws(ConnectorError) in
            try await libc.gate.call("link", ["path": "/nowhere"])
        }
        #expect(linkError.message == "readlink failed: No such file or directory (errno 2)")
    }

    @Test func `a text that fills its buffer to the end is not cut, but too large`() async throws {
        // glibc's memfrob(3) inverts some bits of every byte of a buffer, and the host's begins with zeros.
        let libc = try await sidecar(
            "libc.so.6",
            #""fill": {"symbol": "memfrob", "signature": "(text: out cstring) -> u64"}"#
        )
        let error = try await failure { () throws(ConnectorError) in try await libc.gate.call("fill") }
        #expect(error.code == .tooLarge)
        #expect(error.message.contains("text does not end within 65536 bytes"))
        await libc.host.close()
    }

    @Test func `a function that blocks for ever holds up neither its caller nor its gate`() async throws {
        let clock = ManualHostClock()
        let operations = """
            "wait": {"symbol": "poll", "signature": "(files: handle?, count: u64, timeout: i32) -> i32", "status": "errno"}
            """
        let libc = try await sidecar("libc.so.6", operations, clock: clock)
        let arguments: JSONObject = ["count": 0, "timeout": -1]
        async let stuck = failure { () throws(ConnectorError) in
            try await libc.gate.call("wait", arguments, options: CallOptions(timeout: .seconds(1)))
        }
        await clock.timers(atLeast: 1)
        #expect(try await libc.gate.call("wait", ["count": 0, "timeout": 0]) == 0)
        clock.advance(by: .seconds(1))
        #expect(try await stuck.code == .timedOut)
        await clock.advance(by: .seconds(5)) { await libc.host.close() }
        #expect(libc.host.report["gate"]?.state == .closed)
    }

    @Test(arguments: [
        (#""signature": "() async -> json""#, "never async"),
        (#""signature": "() -> (a: i32, b: i32)""#, "at most one value"),
        (#""signature": "() -> bytes""#, "cannot return bytes"),
        (#""signature": "() -> i32", "status": "zero""#, "use out parameters"),
        (#""signature": "() -> i32", "status": "null""#, "needs \"-> handle\""),
        (#""signature": "() -> u32", "status": "errno""#, "needs a signed integer"),
        (#""signature": "() -> i64", "status": "negative", "statusType": "i64""#, "remove \"statusType\""),
        (#""signature": "()", "statusType": "i64""#, "nothing reads what the function returns"),
        (#""signature": "()", "status": "zero", "statusType": "f64""#, "a status is an integer"),
        (#""signature": "()", "status": "errno", "statusType": "u64""#, "needs a signed integer"),
        (#""signature": "()", "status": "nul""#, "did you mean \"null\"?"),
        (#""signature": "()", "codes": {"x": "failed"}"#, "codes maps numbers"),
        (#""signature": "()", "codes": {"5": "unavailabel"}"#, "did you mean \"unavailable\"?"),
        (#""signature": "()", "codes": {"5": "not-locked"}"#, "unknown error code \"not-locked\""),
        (#""signature": "(a: handle)", "releases": ["b"]"#, "which is not a handle"),
        (#""signature": "(a: out bytes)""#, "must be the result"),
    ])
    func `a sidecar that makes no sense is refused with the reason`(_ keys: String, _ reason: String) {
        let text = """
            {"manifest": 1, "id": "library", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6",
             "capabilities": {"library/1": {"call": {"symbol": "abs", \(keys)}}}}
            """
        let error = #expect(throws: ConnectorError.self) { try Manifest(parsing: Array(text.utf8)) }
        #expect(error?.code == .invalidManifest)
        #expect(error.map { "\($0)".contains(reason) } == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `a library that is not on the system fails its gate, and says what to install`() async throws {
        let path = "/tmp/connector-absent-\(getpid()).connector.json"
        defer { unsafe unlink(path) }
        try Fixtures.write(
            Array(
                #"{"manifest": 1, "id": "absent", "version": "1.0.0", "abi": [1, 1], "library": "libabsent.so.7"}"#.utf8
            ),
            to: path
        )
        let absent = try await opened(TestHost.leaf("gate", plugin: "absent"), path)
        #expect(absent.report.error?.code == .missingDependency)
        #expect(absent.report.error?.fix?.contains("libabsent.so.7") == true)
    }
}
