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

/// What plugins complete `open` and `probe` with.
@Suite(.timeLimit(.minutes(10))) struct EvidenceTests {
    private func read(_ text: String) throws(ConnectorError) -> [Evidence] {
        try Evidence.read(
            Array(text.utf8),
            at: Timestamp(nanoseconds: 5),
            duration: .milliseconds(7),
            redactor: Redactor()
        )
    }

    @Test func `evidence is sorted from weak to strong, with its time`() throws {
        let evidence = try read(
            #"[{"kind": "authenticated", "detail": "as me"}, {"kind": "configured"}, {"kind": "reachable", "more": 1}]"#
        )
        #expect(evidence.map(\.kind) == [.configured, .reachable, .authenticated])
        #expect(evidence.map(\.detail) == ["", "", "as me"])
        #expect(evidence.allSatisfy { $0.at.nanoseconds == 5 && $0.duration == .milliseconds(7) })
    }

    @Test(arguments: ["", "[]"])
    func `empty evidence claims only that the configuration was accepted`(_ text: String) throws {
        #expect(try read(text).map(\.kind) == [.configured])
    }

    @Test func `a detail that is too long is cut, not refused`() throws {
        let detail = String(repeating: "é", count: 10_000)
        let cut = try read(#"[{"kind": "configured", "detail": "\#(detail)"}]"#)[0].detail
        #expect(cut == String(repeating: "é", count: 248) + "…")
        #expect(try read(#"[{"kind": "configured", "detail": 5}]"#)[0].detail == "")
    }

    @Test(arguments: [
        "null", "{}", "5", "\"reachable\"", "[1]", "[null]", "[[]]", #"[{}]"#, #"[{"kind": 1}]"#, #"[{"kind": ""}]"#,
        #"[{"kind": "delivered"}]"#, #"[{"kind": "Reachable"}]"#, #"[{"kind": "configured"}"#, "\u{0}", "[{\"kind\"",
        "[" + String(repeating: #"{"kind": "configured"},"#, count: 16) + #"{"kind": "configured"}]"#,
        String(repeating: "[", count: 100_000),
    ])
    func `evidence of any other form is the plugin's misbehaviour`(_ text: String) {
        let error = #expect(throws: ConnectorError.self) { try read(text) }
        #expect(error?.code == .misbehaved)
    }

    @Test func `evidence that is not UTF-8 is the plugin's misbehaviour`() {
        let error = #expect(throws: ConnectorError.self) {
            try Evidence.read(
                [0x5B, 0x22, 0xFF, 0x22, 0x5D],
                at: Timestamp(nanoseconds: 0),
                duration: .zero,
                redactor: Redactor()
            )
        }
        #expect(error?.code == .misbehaved)
    }

    @Test(arguments: ["nonsense", #"[{"kind":"delivered"}]"#, "{}"])
    func `a gate whose evidence is malformed fails`(_ evidence: String) async throws {
        let test = try TestHost(TestHost.leaf("gate", ["evidence": .string(evidence)]))
        let report = try #require(await test.host.open()["gate"])
        #expect(report.state == .failed)
        #expect(report.error?.code == .misbehaved)
        #expect(report.evidence.isEmpty)
    }

    @Test func `a secret that a server echoes is kept out of the evidence`() async throws {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                ["key": ["secret": "env:KEY"], "evidence": #"[{"kind":"reachable","detail":"hello s3cr3t-s3cr3t"}]"#]
            ),
            environment: ["KEY": "s3cr3t-s3cr3t"]
        )
        let report = await test.host.open()
        let detail = try #require(report["gate"]?.strongestEvidence?.detail)
        #expect(detail.hasPrefix("hello "))
        #expect(!report.json.description.contains("s3cr3t-s3cr3t"))
    }

    @Test func `kinds are ordered by strength`() {
        #expect(Evidence.Kind.allCases == [.configured, .reachable, .authenticated, .delivered])
        #expect(Evidence.Kind.allCases.sorted() == Evidence.Kind.allCases)
    }
}
