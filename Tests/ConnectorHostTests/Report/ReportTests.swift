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

/// The report, as a value, as a document, and as a stream.
@Suite(.timeLimit(.minutes(10))) struct ReportTests {
    // MARK: The document

    @Test func `the document has the form that the format promises`() async throws {
        let test = try TestHost(
            TestHost.composite(
                "group",
                "all",
                TestHost.leaf("good", ["evidence": #"[{"kind":"reachable","detail":"seen"}]"#]),
                TestHost.leaf("bad", ["opens": "busy"], settings: #""required": false, "probe": "off""#)
            )
        )
        let json = await test.host.open().json
        #expect(json["version"] == 1)
        #expect(json["state"] == "degraded")
        #expect(json["ready"] == true)
        let group = try #require(json["gates"]?[0]?.object)
        #expect(group.names == ["path", "state", "target", "required", "ready", "policy", "openMilliseconds"])
        #expect(group["policy"] == "all")
        let good = try #require(json["gates"]?[1]?.object)
        let process = PendingCalls.areRemote ? ["isolation", "sandbox"] : []
        let names = ["path", "state", "target", "required", "ready", "plugin", "evidence", "attempts", "capabilities"]
        #expect(good.names == names + process + ["generation", "openMilliseconds"])
        #expect(good["path"] == "group/good")
        #expect(good["plugin"]?["id"] == "calls")
        #expect(good["plugin"]?["version"] == "1.0.0")
        #expect(good["plugin"]?["sha256"]?.string?.count == 64)
        #expect(
            good["evidence"] == [
                ["kind": "reachable", "detail": "seen", "at": "2026-01-01T00:00:00.000Z", "milliseconds": 0.0]
            ]
        )
        #expect(good["capabilities"]?["calls/1"]?.array?.contains("answer") == true)
        let bad = try #require(json["gates"]?[2]?.object)
        #expect(bad["state"] == "failed")
        #expect(bad["target"] == "open")
        #expect(bad["required"] == false)
        #expect(bad["error"]?["code"] == "unavailable")
        #expect(bad["error"]?["message"] == "the vendor is away")
        #expect(bad["error"]?["connector"] == "group/bad")
        #expect(bad["error"]?["retryable"] == true)
        #expect(bad["error"]?["retryAfterMilliseconds"] == 2000)
        #expect(json == (try JSONValue(parsing: json.description)))
    }

    @Test func `misbehaviours are counted in the document, and left out if there were none`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["opens": "twice"]), TestHost.leaf("good"))
        _ = await test.host.open()
        // The second completion may come after the host has taken the first.
        var json = test.host.report.json
        while json["gates"]?[0]?["misbehaviours"] == nil {
            try await Task.checkedYield()
            json = test.host.report.json
        }
        #expect(json["gates"]?[0]?["misbehaviours"] == 1)
        #expect(json["gates"]?[1]?["misbehaviours"] == nil)
    }

    @Test func `no image is called unused while a gate opens, which may use it`() throws {
        var report = Report(gates: [GateReport(path: "gate", state: .opening)], state: .opening)
        report.images = ImagesReport(json: ["count": 1, "bytes": 9_500_000])
        #expect(report.unusedImagesText == nil)
        report.gates[0].state = .closed
        #expect(report.unusedImagesText?.hasPrefix("1 image of plugins in memory") == true)
    }

    @Test func `a host that was never opened is closed, with no attempts and no evidence`() throws {
        let test = try TestHost(TestHost.leaf("gate"))
        let report = test.host.report
        #expect(report.state == .closed)
        #expect(!report.isReady)
        #expect(report["gate"]?.attempts == 0)
        #expect(report["gate"]?.evidence == [])
        #expect(report["gate"]?.openDuration == nil)
        #expect(report["gate"]?.plugin?.sha256 == nil)
        let error = #expect(throws: ConnectorError.self) { try report.requireReady() }
        #expect(error?.code == .notOpen)
        #expect(error?.connector == "gate")
    }

    @Test func `a report prints as a line for each connector, and one for the whole`() {
        var group = GateReport(path: "group", state: .degraded)
        (group.policy, group.isReady) = ("first", true)
        var good = GateReport(path: "group/good", state: .open)
        good.evidence = [
            Evidence(kind: .reachable, detail: "seen", at: Timestamp(nanoseconds: 0), duration: .zero)
        ]
        var late = GateReport(path: "late", state: .degraded, error: ConnectorError(.timedOut, "no answer"))
        (late.evidence, late.isReady) = (good.evidence, true)
        let error = ConnectorError(.unavailable, "no route", connector: "group/bad")
        var bad = GateReport(path: "group/bad", state: .failed, error: error)
        bad.isRequired = false
        let report = Report(gates: [group, good, bad, late], state: .degraded)
        let lines = [
            "group: degraded", "group/good: open, reachable (seen)", "group/bad: failed; no route [unavailable]",
            "late: degraded, was reachable (seen); no answer [timed-out]", "ready: 1 of 3 gates open",
        ]
        #expect("\(report)" == lines.joined(separator: "\n"))
    }

    // MARK: The stream

    @Test func `the stream begins with the current report, and changes in quick succession become one`() async {
        let changes = ReportChanges()
        let state = Journal<Int>()
        let stream = changes.stream { Report(gates: [], state: state.values.isEmpty ? .closed : .open) }
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next()?.state == .closed)
        for number in 0..<100 {
            state.note(number)
            changes.notify()
        }
        #expect(await iterator.next()?.state == .open)
        let task = Task {
            var count = 0
            for await _ in stream { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }

    @Test func `everybody who watches sees the last report`() async throws {
        let test = try TestHost(TestHost.leaf("gate"))
        async let first = test.host.report { $0.state == .open }
        async let second = test.host.report { $0.state == .open }
        await test.host.open()
        #expect(await first["gate"]?.state == .open)
        #expect(await second["gate"]?.state == .open)
    }

    @Test func `the stream ends with the report of the closed host, and then has only that`() async throws {
        let test = try await TestHost.opened()
        var reports = test.host.reports.makeAsyncIterator()
        #expect(try await reports.next()?.state == .open)
        await test.host.close()
        #expect(try await reports.next()?.state == .closed)
        #expect(try await reports.next() == nil)
        var late: [GateState] = []
        for await report in test.host.reports { late.append(report.state) }
        #expect(late == [.closed])
        #expect(await test.host.report { $0.state == .open }.state == .closed)
    }

    @Test func `a stream that nobody reads any more is forgotten`() async {
        let changes = ReportChanges()
        for _ in 0..<10 {
            let stream = changes.stream { Report(gates: [], state: .closed) }
            for await _ in stream { break }
        }
        #expect(changes.watcherCount == 0)
    }
}
