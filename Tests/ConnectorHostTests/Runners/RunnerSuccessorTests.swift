// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorIsolation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A successor opens in another runner than the instance that serves: what it does there costs no call.
@Suite(
    .timeLimit(.minutes(5)),
    .serialized,
    .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
)
struct RunnerSuccessorTests {
    private static func leaf(_ name: String = "gate", _ config: JSONObject = [:], settings: String = "") -> String {
        let common = RunnerCallTests.numbered + #", "retry": {"attempts": 1}"#
        return TestHost.leaf(name, plugin: "crashes", config, settings: common + settings)
    }

    @Test(arguments: ["", #", "runner": "mine""#])
    func `a successor that crashes ends neither the instance that serves nor its calls`(settings: String) async throws {
        let test = try await TestHost.opened(Self.leaf(settings: settings))
        let process = try await test.call("gate", "process")
        let progress = Journal<JSONValue>()
        let options = CallOptions(timeout: .seconds(1000), onProgress: { progress.note($0) })
        let call = Task {
            try await failure { () throws(ConnectorError) in
                try await test.call("gate", "begin", ["how": "pending"], options: options)
            }
        }
        while progress.values.isEmpty { try await Task.checkedYield() }
        let reload = try await test.reload(Self.leaf("gate", ["opens": "abort"], settings: settings))
        #expect(reload.phase == .open && reload.errors.map(\.code) == [.crashed], "\(reload.errors)")
        let report = try test.gate("gate")
        #expect(report.state == .open && report.generation == 1 && report.crashCount == 0)
        call.cancel()
        #expect(try await call.value.code == .cancelled)
        #expect(try await test.call("gate", "process") == process)
        await test.host.close()
    }

    @Test func `an instance with other secrets that crashes does not end the one that serves`() async throws {
        let test = try await TestHost.opened(Self.leaf())
        let process = try await test.call("gate", "process")
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        var configuration = gate.plan.configuration
        configuration.config["opens"] = .string("abort")
        let replaced = await gate.replace(by: configuration, of: gate.planNumber)
        #expect(throws: ConnectorError.self) { try replaced.get() }
        #expect(try await test.call("gate", "process") == process)
        #expect(try test.gate("gate").crashCount == 0)
        await test.host.close()
    }

    @Test func `a moved connector that crashes does not end the instance that it moves from`() async throws {
        let test = try await TestHost.opened(Self.leaf())
        let process = try await test.call("gate", "process")
        let reload = try await test.reload(Self.leaf("moved", ["opens": "abort"], settings: #", "was": "gate""#))
        #expect(reload.phase == .open && reload.errors.map(\.code) == [.crashed], "\(reload.errors)")
        #expect(try await test.call("gate", "process") == process)
        #expect(try test.gate("gate").crashCount == 0)
        await test.host.close()
    }

    @Test func `a gate on trial whose successor loses its runner goes on with its earlier instance`() async throws {
        let trial = #", "trial": "8s""#
        let test = try await TestHost.opened(Self.leaf(settings: trial))
        let process = try await test.call("gate", "process")
        #expect(try await test.reload(Self.leaf("gate", ["opens": "well"], settings: trial)).isActive)
        #expect(try test.gate("gate").isOnTrial)
        let successor = try #require(try await test.call("gate", "process").integer)
        #expect(process != .integer(successor))
        #expect(kill(pid_t(successor), SIGKILL) == 0)
        while try test.gate("gate").crashCount == 0 { try await Task.checkedYield() }
        let report = try test.gate("gate")
        #expect(report.state == .open && !report.isOnTrial && report.generation == 3)
        #expect(try await test.call("gate", "process") == process)
        await test.host.close()
    }

    @Test func `connectors that share a runner share their successors' one, and the earlier one ends`() async throws {
        let test = try await TestHost.opened(Self.leaf(), Self.leaf("other"))
        let process = try #require(try await test.call("gate", "process").integer)
        let config: JSONObject = ["opens": "well"]
        #expect(try await test.reload(Self.leaf("gate", config), Self.leaf("other", config)).isActive)
        let next = try await test.call("gate", "process")
        #expect(next != .integer(process))
        #expect(try await test.call("other", "process") == next)
        while kill(pid_t(process), 0) == 0 { try await Task.checkedYield() }
        #expect(test.host.report.runners.map(\.connectors) == [["gate", "other"]])
        await test.host.close()
    }

    @Test func `a successor shares the runner of the instance that serves if the host may have no more`() async throws {
        let test = try await TestHost.opened(Self.leaf())
        let process = try await test.call("gate", "process")
        let pool = test.host.dependencies.runners
        var others: [Runner] = []
        for number in 1..<RunnerPool.limit {
            others.append(try pool.hold(RunnerPool.Key("other \(number)", sandbox: SandboxSettings(level: .off))))
        }
        #expect(try await test.reload(Self.leaf("gate", ["opens": "well"])).isActive)
        #expect(try await test.call("gate", "process") == process)
        for runner in others { runner.release() }
        #expect(try await test.reload(Self.leaf("gate", ["opens": "better"])).isActive)
        #expect(try await test.call("gate", "process") != process)
        await test.host.close()
    }
}
