// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import NIOCore

@testable import ConnectorServices

extension GateServices {
    /// Waits until the gate's event loop has done what it is doing, such as noting that a request has been sent.
    func loopHasRun() async throws {
        let network = try host.http.network(of: context.path, for: connections)
        try await network.loop.submit {}.get()
    }
}
