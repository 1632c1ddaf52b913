// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(macOS)
    import ConnectorBase
    import ConnectorTestSupport
    import Testing

    @testable import ConnectorHost

    /// Runners where the system has no sandbox for them.
    @Suite(.timeLimit(.minutes(2))) struct RunnerWithoutSandboxTests {
        private func opened(_ sandbox: String) async throws -> GateReport {
            let settings = #""probe": "off", "isolation": "process", "sandbox": \#(sandbox)"#
            let test = try TestHost(TestHost.leaf("gate", plugin: "values", settings: settings))
            let report = await test.host.open()
            await test.host.close()
            return try #require(report["gate"])
        }

        @Test func `the sandbox and its bounds are reported as absent`() async throws {
            let gate = try await opened(#"{"cpu": 0.5}"#)
            #expect(gate.state == .open, "\(gate.error?.description ?? "")")
            #expect(gate.sandbox == "no sandbox: macOS; cpu is not bounded (there are no control groups)")
            #expect(gate.confinement == GateReport.Confinement.none)
        }

        @Test func `a connector that requires a sandbox does not open, and says so`() async throws {
            let error = try #require(try await opened(#"{"level": "required"}"#).error)
            #expect(error.code == .unsupported && error.message.hasSuffix("does not hold: no sandbox: macOS"))
        }
    }
#endif
