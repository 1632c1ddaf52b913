// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorHostCommands

/// What `status` shows of a report that a command never sees: one of a host that has run for a while.
@Suite struct StatusDocumentTests {
    private func lines(_ calls: CallCounters?) -> [String] {
        let gate = GateReport(
            path: "gate",
            state: .open,
            target: .open,
            isReady: true,
            evidence: [],
            attempts: 1,
            capabilities: [:],
            misbehaviourCount: 0,
            calls: calls
        )
        let document = StatusDocument(report: Report(gates: [gate], state: .open), duration: .seconds(1))
        return document.lines(TextStyle(isColoured: false, isUnicode: true))
    }

    @Test func `a plugin that does not reach its server may lack sockets only in a runner`() {
        func fix(_ isolation: Isolation.Kind?) -> String? {
            let error = ConnectorError(.unavailable, "cannot resolve example.com")
            var gate = GateReport(path: "gate", state: .failed, error: error)
            gate.isolation = isolation
            let document = StatusDocument(report: Report(gates: [gate], state: .open), duration: .seconds(1))
            let lines = document.lines(TextStyle(isColoured: false, isUnicode: true))
            return lines.first { $0.contains("check that the endpoint is correct") }
        }
        #expect(fix(.process)?.contains("status --learn") == true)
        #expect(fix(nil)?.contains("status --learn") == false)
    }

    @Test(
        arguments: [
            (nil, "errno 13", false), (.process, "errno 13", true), (.process, nil, true), (.process, "s3 403", false),
            (.process, "host", false),
        ] as [(Isolation.Kind?, String?, Bool)]
    )
    func `what a call may not use may be denied by the sandbox only in a runner, unless others refuse it`(
        _ isolation: Isolation.Kind?,
        _ cause: String?,
        _ mayBeSandbox: Bool
    ) {
        let error = ConnectorError(.denied, "it is not permitted", connector: "gate", cause: cause)
        var gate = GateReport(path: "gate", state: .open)
        gate.isolation = isolation
        let shown = Remedy.completing(error, from: Report(gates: [gate], state: .open))
        let text = ErrorLines(error: shown, occasion: .call).lines(TextStyle(isColoured: false)).joined()
        #expect(text.contains("name it in the connector's \"sandbox\"") == mayBeSandbox, "\(text)")
        gate.error = error
        let document = StatusDocument(report: Report(gates: [gate], state: .open), duration: .seconds(1))
        let status = document.lines(TextStyle(isColoured: false)).joined()
        #expect(status.contains("name it in the connector's \"sandbox\"") == mayBeSandbox, "\(status)")
    }

    @Test(
        arguments: [
            (nil, nil, "the connector's \"timeout\""),
            ("no answer in time", nil, "\"batch\" in the connector's \"outbox\""),
            ("no answer in time", "ask the operator", "ask the operator"),
            // The delivery failed before, and this is the gate's own error.
            ("earlier words", nil, "the connector's \"timeout\""),
        ] as [(String?, String?, String)]
    )
    func `what takes too long is a matter of the gate's timeout at opening, and of the batch in a delivery`(
        _ failure: String?,
        _ fix: String?,
        _ advice: String
    ) {
        let error = ConnectorError(.timedOut, "no answer in time", fix: fix, connector: "gate")
        var gate = GateReport(path: "gate", state: .degraded, error: error)
        var outbox = OutboxReport(queued: 1, bytes: 9, dead: 0, delivered: 0, dropped: 0, perSecond: 0)
        outbox.failure = failure
        if failure != nil { outbox.code = .timedOut }
        gate.outbox = outbox
        let document = StatusDocument(report: Report(gates: [gate], state: .open), duration: .seconds(1))
        let advices = document.lines(TextStyle(isColoured: false, isUnicode: true)).filter { $0.contains("→") }
        #expect(advices.count == 1 && advices[0].contains(advice), "\(advices)")
    }

    @Test(arguments: [("s3 403", true), ("errno 13", false), (nil, false)] as [(String?, Bool)])
    func `what a vendor denies is a matter of the credentials' permissions, at opening and in a call`(
        _ cause: String?,
        _ isVendors: Bool
    ) {
        let error = ConnectorError(.denied, "it is not permitted", connector: "gate", cause: cause)
        for occasion in [Remedy.Occasion.opening, .call] {
            let text = ErrorLines(error: error, occasion: occasion).lines(TextStyle(isColoured: false)).joined()
            #expect(text.contains("check the permissions of the credentials") == isVendors, "\(text)")
        }
    }

    @Test(
        arguments: [
            (.unavailable, "check that the endpoint is correct", nil),
            (.timedOut, "find out why the server is slow", "timeout"),
            (.protocolViolation, "belongs to this vendor's API", nil),
            (.missing, "create it at the vendor", "create it, or"),
        ] as [(ConnectorError.Code, String, String?)]
    )
    func `no server is blamed for what a plugin lacks that reaches none`(
        _ code: ConnectorError.Code,
        _ ofServers: String,
        _ ofThisMachine: String?
    ) {
        let error = ConnectorError(code, "the disk is full", connector: "gate")
        for isLocal in [false, true] {
            var gate = GateReport(path: "gate", state: .failed, error: error)
            gate.plugin = GateReport.PluginIdentity(
                id: "store",
                version: SemanticVersion(1, 0, 0),
                isLocal: isLocal,
                content: nil
            )
            let report = Report(gates: [gate], state: .open)
            for isolation in [nil, Isolation.Kind.process] {
                gate.isolation = isolation
                let document = StatusDocument(report: Report(gates: [gate], state: .open), duration: .seconds(1))
                let text = document.lines(TextStyle(isColoured: false, isUnicode: true)).joined(separator: "\n")
                #expect(text.contains(ofServers) != isLocal, "\(text)")
                if isLocal { #expect(text.contains(ofThisMachine ?? "→") == (ofThisMachine != nil), "\(text)") }
            }
            #expect(Remedy.isLocal(error, in: report) == isLocal && !Remedy.isLocal(error, in: nil))
            #expect(Report(json: report.json)?["gate"]?.plugin?.isLocal == isLocal)
        }
    }

    @Test(arguments: [("sandbox: off", true), ("sandbox: filter, Landlock 7, namespaces", false)])
    func `a sandbox that holds nothing is red, and no other`(_ sandbox: String, _ isRed: Bool) {
        var gate = GateReport(path: "gate", state: .open)
        gate.isolation = .process
        gate.sandbox = sandbox
        let document = StatusDocument(report: Report(gates: [gate], state: .open), duration: .seconds(1))
        let lines = document.lines(TextStyle(isColoured: true))
        #expect(lines.contains { $0.contains(sandbox) })
        #expect(lines.contains { $0.contains("\u{1B}[31m\(sandbox)") } == isRed)
    }

    @Test func `calls are shown once there were any, with the last failure`() {
        #expect(!lines(nil).contains { $0.contains("call") })
        #expect(lines(CallCounters(total: 1)).contains { $0.contains("1 call, 0 failed") })
        let error = ConnectorError(.unavailable, "the vendor is away")
        let failed = lines(CallCounters(total: 12, failures: 3, lastFailure: error))
        #expect(failed.contains { $0.contains("12 calls, 3 failed") })
        #expect(failed.contains { $0.contains("last failure: the vendor is away [unavailable]") })
    }
}
