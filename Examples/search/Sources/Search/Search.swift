// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorSimulator
import Integrator
import SearchModel

/// Reads keys from standard input. A line break ends a text, once its places have been shown.
@main
struct Search {
    static func main() async throws {
        // For real geocoders, leave out the simulator and its two variables.
        let simulator = try Simulator()
        async let serving: Void = simulator.run()
        let server = "http://127.0.0.1:\(try await simulator.port)"
        let environment = Configuration.Environment(["NOMINATIM": "\(server)/nominatim", "PHOTON": "\(server)/photon"])
        let host = try ConnectorHost(
            file: "connectors.json",
            options: ConnectorHost.Options(environment: environment)
        )
        try await host.open().requireReady()

        let search = PlaceSearch(try host.geocoder("geocoder")) { text, suggestions in
            func line(_ places: [String]) -> String { places.isEmpty ? "nothing" : places.joined(separator: "; ") }
            switch suggestions {
            case .cached(let places): print("\(text) (cached): \(line(places))")
            case .found(let places): print("\(text): \(line(places))")
            case .failed(let reason): print("\(text): \(reason)")
            }
        }
        while let line = readLine() {
            let searches = line.indices.map { search.type(String(line[...$0])) }
            await searches.last?.finish()
        }

        await host.close()
        simulator.stop()
        try await serving
    }
}
