// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Puts faults into simulators that another process runs on this machine.
package struct FaultClient: Sendable {
    private let port: Int

    /// Names their port.
    package init(port: Int) {
        self.port = port
    }

    /// Replaces the faults, by none if there are none.
    ///
    /// - Returns: The document that lists those that are active then.
    /// - Throws: `unavailable` if no simulators answer; `invalid` if they refuse a fault.
    package func put(_ faults: [String]) async throws(ConnectorError) -> JSONValue {
        let (status, body): (Int, [UInt8])
        do {
            let text = Array(faults.joined(separator: "\n").utf8)
            let request = ServerRequest("PUT", SimulatorRouter.faultsPath, body: text)
            (status, body) = try await LocalClient(.port(port), patience: .seconds(10)).exchange(request)
        } catch {
            throw ConnectorError(
                .unavailable,
                "no simulators answer on port \(port) of 127.0.0.1",
                fix: "take the port that simulate, or run --simulate, has printed",
                cause: String(describing: error)
            )
        }
        let document = try JSONValue(parsing: body, file: "")
        guard status == 200, document["faults"] != nil else {
            throw ConnectorError(.invalid, document["error"]?.string ?? "port \(port) is not one of simulators")
        }
        return document
    }
}
