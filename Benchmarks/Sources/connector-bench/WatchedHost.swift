// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsoleWeb
internal import ConnectorHost

/// A host with a thousand gates, which are closed and opened one after another, its console, and an application that calls a gate.
struct WatchedHost: Sendable {
    private let files: String
    private let host: ConnectorHost
    /// Calls its first gate.
    let calls: TypedCalls
    private let console: ServedConsole
    private let changing: Task<Void, any Error>

    /// Opens the gates, and begins to change them and to serve the console.
    init(files: String) async throws {
        self.files = files
        let host = try ConnectorHost(file: "\(files)/1000/connectors.json")
        self.host = host
        try await host.open().requireReady()
        calls = try TypedCalls(of: "gate-0000", in: host)
        console = try await ServedConsole { options, announce in
            try await WebConsole.run(host, options: options, announce: announce)
        }
        changing = Task {
            for number in 0... {
                let path = "gate-" + "000\(1 + number % 999)".suffix(4)
                try await host.close(path)
                try await host.open(path)
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// Stops.
    func close() async {
        changing.cancel()
        _ = await changing.result
        await console.close()
        await host.close()
    }

    /// Does something while a number of consoles look at the host.
    func watched<Result>(by count: Int, _ body: () async throws -> Result) async throws -> Result {
        guard let port = console.url.split(separator: ":").last else { throw Failure("\(console.url) has no port") }
        let watchers = try ServerProcess("'\(files)/look' \(port) '\(ServedConsole.token)' \(count)")
        guard watchers.line == "live" else { throw Failure("the consoles do not see the host") }
        let result = try await body()
        guard watchers.close() else { throw Failure("the consoles did not see the changes of the host") }
        return result
    }
}
