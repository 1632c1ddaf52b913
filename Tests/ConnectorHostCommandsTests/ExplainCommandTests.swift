// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// `connector-host explain`.
@Suite struct ExplainCommandTests {
    /// The codes that the sources declare.
    private static func declaredCodes() throws -> [String] {
        try readFile("Sources/ConnectorBase/Errors/ConnectorError+Code.swift").matches(
            of: /= Self\(rawValue: "([a-z-]+)"\)/
        ).map { String($0.output.1) }
    }

    @Test func `every code is explained, and no other`() async throws {
        let document = try JSONValue(parsing: try await Program(directory: "/").run("explain", "--json").output)
        let codes = try #require(document["codes"]?.array)
        let names = codes.compactMap { $0["code"]?.string }
        #expect(try names == Self.declaredCodes())
        for code in codes {
            for key in ["causes", "fixes"] { #expect(code[key]?.array?.isEmpty == false, "\(code)") }
            #expect(code["meaning"]?.string?.hasSuffix(".") == true, "\(code)")
        }
    }

    @Test func `a code is explained with its causes and fixes`() async throws {
        let result = try await Program(directory: "/").run("explain", "not-locked")
        #expect(result.status == 0)
        #expect(result.lines.first?.hasPrefix("not-locked: The lock beside the configuration") == true)
        #expect(result.output.contains("\n  cause: "))
        #expect(result.output.contains("\n  fix: "))
        let document = try JSONValue(
            parsing: try await Program(directory: "/").run("explain", "not-locked", "--json").output
        )
        #expect(document["codes"]?.array?.count == 1)
        #expect(document["codes"]?[0]?["code"] == "not-locked")
    }

    @Test(arguments: [
        ("conflict", "another host delivers"), ("conflict", "since a plan was made"), ("denied", "\"trust\" refuses"),
        ("denied", "the sandbox of a runner"), ("denied", "no terminal"), ("missing", "a directory of this machine"),
        ("missing", "outbox migrate"), ("load-failed", "CONNECTOR_KEEP_IMAGES"),
    ])
    func `a code that the host itself gives is explained with that cause, too`(_ code: String, _ cause: String)
        async throws
    {
        let result = try await Program(directory: "/").run("explain", code)
        #expect(result.output.contains(cause), "\(result.output)")
    }

    @Test func `without a code, every code is one line`() async throws {
        let result = try await Program(directory: "/").run("explain")
        #expect(result.status == 0)
        #expect(try result.lines.count { !$0.isEmpty } == Self.declaredCodes().count)
    }

    @Test func `an unknown code is refused, with the nearest one`() async throws {
        let result = try await Program(directory: "/").start(["explain", "not-loked"]).finish()
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.error.contains("did you mean \"not-locked\"?"))
    }
}
