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

/// How functions of existing libraries say that they have succeeded, and what they are given and give back.
@Suite(.timeLimit(.minutes(10))) struct ForeignConventionTests {
    /// A gate of a library, by a sidecar that a test writes.
    private func sidecar(
        _ library: String,
        _ operations: String,
        settings: String = TestChannel.here.settings,
        clock: ManualHostClock = ManualHostClock()
    ) async throws -> ForeignGate {
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
        let opened = try await ForeignGate.opened(leaf, path, clock: clock)
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
        let absent = try await ForeignGate.opened(TestHost.leaf("gate", plugin: "absent"), path)
        #expect(absent.report.error?.code == .missingDependency)
        #expect(absent.report.error?.fix?.contains("libabsent.so.7") == true)
    }
}
