// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorSimulator

/// The URLs of a simulator, and the demo credentials that it accepts, which are not secret.
struct SimulatorDocument: Document {
    /// The vendors, with URLs and credentials.
    var vendors: [(name: String, url: String, credentials: [(key: String, value: String)])] = []
    /// The URL of the received requests.
    var receivedURL: String

    /// Creates the document once the simulator listens.
    init(_ simulator: Simulator) async throws {
        let port = try await simulator.port
        receivedURL = "http://127.0.0.1:\(port)/_received"
        for name in simulator.vendors {
            let url = try await simulator.baseURL(of: name)
            var credentials = VendorCatalogue.demoCredentials[name] ?? [:]
            // Those that name a server, such as a DSN, name this one; and some APIs do not begin at the URL.
            for (key, value) in try await simulator.configuration(of: name)
            where credentials[key] != nil || (key == "endpoint" && value != url) {
                credentials[key] = value
            }
            vendors.append((name, url, credentials.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
        }
    }

    func lines(_ style: TextStyle) -> [String] {
        var table = Table()
        for vendor in vendors {
            let credentials = vendor.credentials.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            table.append([Table.Cell(vendor.name, .strong), Table.Cell(vendor.url), Table.Cell(credentials, .faint)])
        }
        return table.lines(style) + ["", "received: \(receivedURL)", "stop: Ctrl-C"]
    }

    var json: JSONValue {
        [
            "version": 1,
            "received": .string(receivedURL),
            "vendors": .array(
                vendors.map { vendor in
                    [
                        "name": .string(vendor.name),
                        "url": .string(vendor.url),
                        "credentials": .object(JSONObject(vendor.credentials.map { ($0.key, .string($0.value)) })),
                    ]
                }
            ),
        ]
    }
}
