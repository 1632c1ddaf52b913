// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
package import ConnectorOutbox
internal import ConnectorOutboxNATS
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Throwaway NATS servers for a test, one or a cluster, on the loopback interface or each on a machine of its own; they end with this
/// value.
package final class NATSServers: Sendable {
    /// Where a server listens.
    struct Ports {
        var client: UInt16
        /// For the other servers.
        var cluster: UInt16
        /// For whoever asks about its health.
        var monitor: UInt16
    }

    /// The servers that run.
    private let processes: Mutex<[GuardedProcess?]>
    /// Where each listens.
    let ports: [Ports]
    private let network: NetworkNamespaces?
    private let directory: String

    /// The directory of the tests' programs.
    private static let program: String? = {
        let places: [String] = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"]
        return places.first { place in unsafe access(place, X_OK) == 0 }
    }()

    /// Whether both the server and the client library are installed; says once what is missing.
    package static let areInstalled: Bool = {
        let isMissing = program == nil || NATSEngine.libraryFailure != nil
        if isMissing { print("note: without nats-server and libnats, the tests of the nats outbox are skipped") }
        return !isMissing
    }()

    /// Starts servers; ``migrate(_:stream:lease:)`` waits until they take connections and have a leader.
    ///
    /// - Parameters:
    ///   - configuration: What the file of each server contains in addition.
    ///   - network: The machines that the servers run on; nil for this one.
    package init(_ count: Int = 1, configuration: String = "", in network: NetworkNamespaces? = nil) async throws {
        var template = Array("/tmp/nats-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else { throw ConnectorError(.failed, "no directory for a test") }
        directory = unsafe String(cString: made)
        self.network = network
        if network == nil {
            let free = try LoopbackPort.free(3 * count)
            ports = (0..<count).map {
                Ports(client: free[3 * $0], cluster: free[3 * $0 + 1], monitor: free[3 * $0 + 2])
            }
        } else {
            ports = Array(repeating: Ports(client: 4222, cluster: 6222, monitor: 8222), count: count)
        }
        processes = Mutex(Array(repeating: nil, count: count))
        try configure(configuration)
        for index in 0..<count { try start(index) }
    }

    /// Writes the file that each server reads when it starts.
    package func configure(_ configuration: String) throws {
        let bytes = Array(configuration.utf8)
        let file = unsafe open("\(directory)/conf", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard unsafe write(file, bytes, bytes.count) == bytes.count else {
            throw ConnectorError(.failed, "no file for a test")
        }
    }

    func address(_ index: Int) -> String { network?.address(index) ?? "127.0.0.1" }

    /// Starts a server on its files; it may have been killed before.
    package func start(_ index: Int) throws {
        let name = "n\(index)"
        var arguments = [
            Self.program ?? "", "-js", "-c", "\(directory)/conf", "-a", address(index), "-p", "\(ports[index].client)",
            "-m", "\(ports[index].monitor)", "-sd", "\(directory)/\(name)", "-n", name, "-l",
            "\(directory)/\(name).log",
        ]
        if ports.count > 1 {
            let routes = ports.indices.map { "nats://\(address($0)):\(ports[$0].cluster)" }.joined(separator: ",")
            let here = "nats://\(address(index)):\(ports[index].cluster)"
            arguments += ["--cluster_name", "test", "--cluster", here, "--routes", routes]
        }
        let process = try GuardedProcess((network?.command(index) ?? []) + arguments)
        processes.withLock { $0[index] = process }
    }

    /// Kills a server, as a failing machine would.
    package func kill(_ index: Int) { processes.withLock { $0[index].take() }?.kill() }

    /// The servers, separated by commas.
    package func url(host: String? = nil) -> String {
        ports.indices.map { "nats://\(host ?? address($0)):\(ports[$0].client)" }.joined(separator: ",")
    }

    /// How to use the servers.
    package func settings(stream: String = "OUTBOX", token: String? = nil, host: String? = nil) -> NATSSettings {
        NATSSettings(url: url(host: host), stream: stream, replicas: ports.count == 1 ? 1 : 3, token: token)
    }

    /// Makes the streams and consumers, as soon as the servers have started and agreed.
    package func migrate(
        _ paths: [String],
        _ settings: NATSSettings? = nil,
        lease: Duration? = nil
    ) async throws -> [String] {
        let settings = settings ?? self.settings()
        let clock = SystemHostClock()
        let deadline = clock.now() + 60_000_000_000
        while true {
            do throws(ConnectorError) {
                return try await NATSEngine.migrate(settings, paths: paths, lease: lease ?? NATSEngine.lease)
            } catch {
                // Servers that have just found each other refuse for lack of peers.
                guard error.code == .storage, clock.now() < deadline else { throw error }
                _ = await OneShot<Void>().wait(by: clock.now() + 100_000_000, on: clock)
            }
        }
    }

    deinit {
        for index in ports.indices { kill(index) }
        _ = GuardedProcess.run(["/bin/rm", "-rf", directory])
    }
}
