// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorPlatform
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Sets the faults of simulators in another process on this machine.
package struct FaultClient: Sendable {
    private let port: Int

    /// Creates a client of the simulators on a port of the loopback interface.
    package init(port: Int) {
        self.port = port
    }

    /// Replaces the active faults; an empty array ends them.
    ///
    /// - Returns: The document that lists the faults now active.
    /// - Throws: `unavailable` if no simulator answers on the port; `invalid` if a fault is rejected.
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
                cause: Self.reason(error)
            )
        }
        let document = try JSONValue(parsing: body, file: "")
        guard status == 200, document["faults"] != nil else {
            throw ConnectorError(.invalid, document["error"]?.string ?? "port \(port) is not one of simulators")
        }
        return document
    }

    /// Why there was no answer, in the system's words if it says so.
    private static func reason(_ error: any Error) -> String {
        let errors = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        let number = errors.lazy.compactMap { ($0 as? IOError)?.errnoCode }.first
        return number.map { SystemError($0).description } ?? String(describing: error)
    }
}
