// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import ConnectorPlatform
import Testing

/// An existing library that has been opened as a gate.
struct ForeignGate {
    let host: ConnectorHost
    let gate: GateClient
    let report: GateReport

    static func opened(_ leaf: String, _ sidecar: String, clock: ManualHostClock = ManualHostClock()) async throws
        -> ForeignGate
    {
        let host = try ConnectorHost.testing("[\(leaf)]", plugins: [sidecar], clock: clock)
        let report = await host.open()
        return ForeignGate(host: host, gate: try host.gate("gate"), report: try #require(report["gate"]))
    }
}
