// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorSimulator
import Hummingbird
import PlaceService

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Serves places over HTTP until it is told to stop. With `--simulate`, simulators in this process take the vendors' place.
@main
struct Service {
    static func main() async throws {
        let variables = Configuration.Environment.process
        var environment = variables
        let simulator = CommandLine.arguments.contains("--simulate") ? try Simulator() : nil
        async let serving: Void? = simulator?.run()
        if let simulator {
            let server = "http://127.0.0.1:\(try await simulator.port)"
            environment = variables.merging(["NOMINATIM": "\(server)/nominatim", "PHOTON": "\(server)/photon"])
        }
        var options = ConnectorHost.Options(environment: environment)
        options.waitsForRequiredGates = false
        let application = try PlaceService.application(
            ConnectorHost(file: "connectors.json", options: options),
            port: variables["PORT"].flatMap { Int($0) } ?? 8080,
            consolePort: variables["CONSOLE_PORT"].flatMap { Int($0) } ?? 8901
        ) { line in
            print(line)
            // Flushed also if the output is a pipe.
            unsafe fflush(nil)
        }
        // Returns after SIGTERM or SIGINT, when everything has stopped.
        try await application.runService()
        simulator?.stop()
        try await serving
    }
}
