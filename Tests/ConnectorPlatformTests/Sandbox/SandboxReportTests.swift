// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorPlatform
import Testing

@Suite struct SandboxReportTests {
    private static let whole = SandboxReport(
        outcomes: SandboxLayer.allCases.map { layer in
            SandboxOutcome(layer: layer, holds: true, version: layer == .landlock ? 7 : 0)
        },
        attempts: [SandboxAttempt(name: "open a file", refusal: 13)]
    )

    @Test func `the evidence of a whole sandbox names its layers`() {
        #expect(Self.whole.evidence == "sandbox: filter, landlock 7, namespaces")
        #expect(Self.whole.isWhole)
    }

    @Test func `missing layers are named with the reason`() {
        var report = Self.whole
        report.outcomes[1] = SandboxOutcome(layer: .landlock, holds: false, detail: "the kernel has none")
        report.outcomes[4].detail = "threads are unbounded without a user namespace"
        #expect(!report.isWhole)
        #expect(
            report.evidence == """
                sandbox: filter, namespaces; no landlock (the kernel has none); \
                threads are unbounded without a user namespace
                """
        )
    }

    @Test func `an attempt that was possible counts, whatever the layers say`() {
        var report = Self.whole
        report.attempts.append(SandboxAttempt(name: "run a program", refusal: nil))
        report.attempts.append(SandboxAttempt(name: "mount", refusal: nil))
        #expect(!report.isWhole)
        #expect(report.evidence == "sandbox: filter, landlock 7, namespaces; possible: run a program, mount")
    }

    @Test func `without any layer the evidence says none`() {
        let report = SandboxReport(outcomes: [SandboxOutcome(layer: .filter, holds: false, detail: "no table")])
        #expect(report.evidence == "sandbox: none; no filter (no table)")
    }

    @Test func `settings survive a round trip through arguments`() {
        for settings in [
            SandboxSettings(),
            SandboxSettings(
                level: .required,
                read: ["/a", "/b=c"],
                write: ["/d e"],
                network: true,
                memory: 1 << 30,
                threads: 12
            ),
        ] {
            #expect(SandboxSettings(arguments: settings.arguments) == settings)
        }
        let other = SandboxSettings(read: ["/a/b"]).beside(writersOf: ["/a"])
        #expect(SandboxSettings(arguments: other.arguments) == other)
        for wrong in ["--sandbox=no", "--memory=much", "--other=1", "read"] {
            #expect(SandboxSettings(arguments: [wrong]) == nil, "\(wrong)")
        }
    }

    @Test func `of what other plugins may write, only the paths above a plugin's own concern it`() {
        let settings = SandboxSettings(read: ["/a/b/c"], write: ["/d/e", "/a/b"])
        let written: Set = ["/", "/a", "/a/b", "/a/b/c", "/a/bc", "/d/e/f", "/d", "/de"]
        #expect(settings.beside(writersOf: written).writtenByOthers == ["/a", "/d"])
        #expect(SandboxSettings().beside(writersOf: written) == SandboxSettings())
    }
}
