// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost

/// Composites whose children's runners end before their time: what was sent is repeated only where that is safe.
@Suite(
    .timeLimit(.minutes(5)),
    .serialized,
    .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
)
struct CompositeCrashTests {
    /// A composite of two gates, each in a runner of its own, once both are open.
    private func openedPair(_ policy: String, _ plugin: String) async throws -> TestHost {
        let leaves = ["a", "b"].map { name in
            TestHost.leaf(name, plugin: plugin, settings: RunnerCrashTests.heals + #", "runner": "\#(name)""#)
        }
        let test = try TestHost(TestHost.composite("group", policy, leaves.joined(separator: ",")))
        await test.host.open()
        _ = await test.host.report { $0["group/a"]?.state == .open && $0["group/b"]?.state == .open }
        return test
    }

    @Test(arguments: [("crash", 1), ("crashSafely", 2)])
    func `with the policy first, a call that was sent goes to the next child only if the operation is safe`(
        _ operation: String,
        _ crashes: Int
    ) async throws {
        let test = try await openedPair("first", "crashes")
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("group", operation, ["how": "abort"])
        }
        #expect(error.code == .crashed && error.isRetryable == (crashes == 2), "\(error)")
        #expect(error.outcomes.map(\.connector) == Array(["group/a", "group/b"].prefix(crashes)))
        for outcome in error.outcomes { #expect(try #require(outcome.error?.sending) != .no) }
        let counts = try ["group/a", "group/b"].map { try test.gate($0).crashCount }
        #expect(counts == [1, crashes - 1])
        await test.host.close()
    }

    @Test func `with the policy first, a batch of events goes to the next child after a crash`() async throws {
        let test = try await openedPair("first", "crashes-on-delivery")
        let analytics = try test.host.analytics("group")
        let error = try await failure { () throws(ConnectorError) in
            try await analytics.deliver([analytics.stamped(.track("Seen"))])
        }
        #expect(error.code == .crashed && error.isRetryable, "\(error)")
        #expect(error.outcomes.map(\.connector) == ["group/a", "group/b"])
        await test.host.close()
    }

    @Test(arguments: ["all", "fastest"])
    func `a composite's call that a leaf may have carried out is not retryable`(_ policy: String) async throws {
        let crash = TestHost.leaf("a", plugin: "crashes", settings: RunnerCrashTests.heals)
        // A call of it fails with an error that is retryable.
        let closed = TestHost.leaf(
            "b",
            plugin: "crashes",
            ["opens": "abort"],
            settings: RunnerCallTests.numbered + #", "runner": "b", "retry": {"attempts": 1}"#
        )
        let test = try TestHost(
            TestHost.composite("group", "all", TestHost.composite("inner", policy, crash), closed)
        )
        await test.host.open()
        _ = await test.host.report { $0["group/inner/a"]?.state == .open && $0["group/b"]?.state == .failed }
        let error = try await failure { () throws(ConnectorError) in
            try await test.call("group", "crash", ["how": "abort"])
        }
        #expect(error.outcomes.map(\.error?.code) == [.crashed, .notOpen] && !error.isRetryable, "\(error)")
        await test.host.close()
    }
}
