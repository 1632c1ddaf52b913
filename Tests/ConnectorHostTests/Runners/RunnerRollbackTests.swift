// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorIsolation
@testable import ConnectorPlatform

/// Connectors that were to run in a runner, and stay where they were.
@Suite(
    .timeLimit(.minutes(5)),
    .serialized,
    .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
)
struct RunnerRollbackTests {
    private static let optional = #""probe": "off", "required": false"#
    private static let isolated = RunnerCallTests.numbered + #", "required": false"#

    private static func leaf(_ config: JSONObject = [:], settings: String) -> String {
        TestHost.leaf("gate", plugin: "crashes", config, settings: settings)
    }

    @Test func `a plugin that stays in the host's process is reported there, and isolated by a later reload`()
        async throws
    {
        let test = try await TestHost.opened(Self.leaf(settings: Self.optional))
        for _ in 1...2 {
            let reload = try await test.reload(Self.leaf(["opens": "abort"], settings: Self.isolated))
            #expect(reload.isActive && reload.rolledBack == ["gate"])
            #expect(try test.gate("gate").isolation == nil)
        }
        let reload = try await test.reload(Self.leaf(settings: Self.isolated))
        #expect(reload.isActive && reload.rolledBack.isEmpty)
        #expect(reload.plan?["gate"]?.fields.map(\.name) == ["isolation", "sandbox"])
        #expect(try test.gate("gate").isolation == .process)
        #expect(test.host.report.runners.map(\.connectors) == [["gate"]])
        await test.host.close()
    }

    @Test func `a runner names a connector once, also if its earlier instance is on trial there`() async throws {
        let trial = Self.isolated + #", "trial": "8s""#
        let test = try await TestHost.opened(Self.leaf(settings: trial))
        let process = try #require(try await test.call("gate", "process").integer)
        // The host may have no more runners, so the successor shares this one.
        var others: [Runner] = []
        let pool = test.host.dependencies.runners
        for number in 1..<RunnerPool.limit {
            others.append(try pool.hold(RunnerPool.Key("other \(number)", sandbox: SandboxSettings(level: .off))))
        }
        #expect(try await test.reload(Self.leaf(["opens": "well"], settings: trial)).isActive)
        #expect(try test.gate("gate").isOnTrial)
        let runner = test.host.report.runners.first { $0.process == process }
        #expect(runner?.connectors == ["gate"])
        for runner in others { runner.release() }
        await test.host.close()
    }
}
