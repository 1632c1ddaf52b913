// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorControl
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorHostCommands

/// What a command says of a host of another release.
@Suite struct AttachedHostTests {
    private func host() throws -> AttachedHost {
        let identity: JSONValue = ["version": 1, "release": "0.0.1", "file": "/connectors.json", "process": 17]
        return AttachedHost(
            identity: try #require(HostIdentity(json: identity)),
            isSimulated: false,
            client: ControlClient("/nowhere")
        )
    }

    @Test func `a request that the host does not know is explained by its release`() throws {
        let host = try host()
        let error = host.explained(ControlAPI.absence(of: "/api/v1/plan"), of: "/api/v1/plan")
        #expect(error.code == .unsupported && error.message.contains("process 17"))
        for release in ["0.0.1", ConnectorHost.version] { #expect(error.fix?.contains(release) == true, "\(release)") }
        let document = host.incompatible("a plan")
        #expect(document.fix == error.fix && document.fix?.contains("--no-attach") == false)
    }

    @Test func `a host that has ended is no host of another release`() async throws {
        let host = try host()
        let report = await #expect(throws: ConnectorError.self) { try await host.report() }
        let call = await #expect(throws: ConnectorError.self) {
            _ = try await host.call("gate", "divide", words: [], timeout: .seconds(1))
        }
        for error in [report, call] { #expect(error?.code == .notOpen && error?.message.contains("has ended") == true) }
    }

    @Test func `whatever else is missing is not blamed on the release`() throws {
        let missing = ConnectorError(.missing, "there is no event e1", fix: "list them")
        let error = try host().explained(missing, of: "/api/v1/outbox/e1")
        #expect(error.code == .missing && error.message == missing.message && error.fix == "list them")
    }
}
