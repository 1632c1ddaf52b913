// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Three NATS servers in processes of their own.
struct Cluster: Sendable {
    private let servers: ServerProcess
    /// Where they listen.
    var url: String { servers.line }
    private let folder: String

    /// Whether the programs are there; says what is missing.
    static func isInstalled(files: String) -> Bool {
        let check = ["sh", "-c", "command -v nats-server && test -x \(files)/cluster"]
        let isThere = (try? ChildProcess.output(check)) != nil
        if !isThere { print("NATS is not installed: apt-get install nats-server libnats-dev") }
        return isThere
    }

    /// Starts them, with nothing stored.
    init(files: String) throws {
        folder = "\(files)/servers"
        _ = try ChildProcess.output(["rm", "-rf", folder])
        _ = try ChildProcess.output(["mkdir", folder])
        servers = try ServerProcess("'\(files)/cluster' '\(folder)'")
    }

    /// Ends them, and removes what they stored.
    func close() throws {
        servers.close()
        _ = try ChildProcess.output(["rm", "-r", folder])
    }
}
