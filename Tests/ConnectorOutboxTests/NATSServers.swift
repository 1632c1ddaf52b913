// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import Synchronization

@testable import ConnectorOutbox

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Throw-away NATS servers of a test's own, one or a cluster, on the loopback interface; gone with this value.
final class NATSServers: Sendable {
    /// A server's guard: a shell that kills the server when its standard input ends, also if this process is killed.
    private struct Guard {
        var process: pid_t
        /// The other end of its standard input.
        var input: Int32
    }

    /// The servers that run.
    private let guards: Mutex<[Guard?]>
    private let ports: [UInt16]
    private let clusterPorts: [UInt16]
    private let directory: String
    private let token: String?

    /// Where the programs of tests lie.
    private static let program: String? = {
        let places: [String] = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"]
        return places.first { place in unsafe access(place, X_OK) == 0 }
    }()

    /// Whether both the server and the client library are installed; says once what is missing.
    static let areInstalled: Bool = {
        let isMissing = program == nil || NATSConnection.libraryFailure != nil
        if isMissing { print("note: without nats-server and libnats, the tests of the nats outbox are skipped") }
        return !isMissing
    }()

    /// Starts servers, and waits until they take connections and have a leader.
    init(_ count: Int = 1, token: String? = nil) async throws {
        self.token = token
        var template = Array("/tmp/nats-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else { throw ConnectorError(.failed, "no directory for a test") }
        directory = unsafe String(cString: made)
        let free = try Self.freePorts(2 * count)
        ports = Array(free.prefix(count))
        clusterPorts = Array(free.suffix(count))
        guards = Mutex(Array(repeating: nil, count: count))
        for index in 0..<count { try start(index) }
    }

    /// Ports that nobody listens on.
    private static func freePorts(_ count: Int) throws -> [UInt16] {
        var (ports, descriptors): ([UInt16], [Int32]) = ([], [])
        defer { for descriptor in descriptors { close(descriptor) } }
        for _ in 0..<count {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            descriptors.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
                }
            }
            guard isBound else { throw ConnectorError(.failed, "no free port for a test") }
            ports.append(UInt16(bigEndian: address.sin_port))
        }
        return ports
    }

    /// Starts a server, also one that was killed, on its files.
    func start(_ index: Int) throws {
        let name = "n\(index)"
        var arguments = [
            "-js", "-a", "127.0.0.1", "-p", "\(ports[index])", "-sd", "\(directory)/\(name)",
            "-n", name, "-l", "\(directory)/\(name).log",
        ]
        if let token { arguments += ["--auth", token] }
        if ports.count > 1 {
            let routes = clusterPorts.map { "nats://127.0.0.1:\($0)" }.joined(separator: ",")
            arguments += [
                "--cluster_name", "test", "--cluster", "nats://127.0.0.1:\(clusterPorts[index])", "--routes", routes,
            ]
        }
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ConnectorError(.failed, "no pipe for a test")
        }
        defer { close(ends[0]) }
        let script = #""$0" "$@" & read -r _; kill -KILL $!; wait"#
        let process = try Self.spawn(["/bin/sh", "-c", script, Self.program ?? ""] + arguments, input: ends[0])
        guards.withLock { $0[index] = Guard(process: process, input: ends[1]) }
    }

    private static func spawn(_ arguments: [String], input: Int32? = nil) throws -> pid_t {
        var texts: [UnsafeMutablePointer<CChar>?] = unsafe []
        for argument in arguments { unsafe texts.append(strdup(argument)) }
        unsafe texts.append(nil)
        defer { for index in unsafe texts.indices { unsafe free(texts[index]) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, 0) }
        // The shell waits for a signal that a thread of this process may have blocked.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        guard unsafe posix_spawn(&process, arguments[0], &actions, &attributes, &texts, environ) == 0 else {
            throw ConnectorError(.failed, "\(arguments[0]) does not start")
        }
        return process
    }

    /// Kills a server, as a failing machine would.
    func kill(_ index: Int) {
        guard let killed = guards.withLock({ $0[index].take() }) else { return }
        close(killed.input)
        _ = waitpid(killed.process, nil, 0)
    }

    /// How to use the servers.
    func settings(stream: String = "OUTBOX", token: String? = nil) -> NATSSettings {
        NATSSettings(
            url: ports.map { "nats://127.0.0.1:\($0)" }.joined(separator: ","),
            stream: stream,
            replicas: ports.count == 1 ? 1 : 3,
            token: token ?? self.token
        )
    }

    /// Makes the streams and consumers, as soon as the servers have started and agreed.
    func migrate(
        _ targets: [String],
        stream: String = "OUTBOX",
        lease: Duration = NATSEngine.lease
    ) async throws -> [String] {
        let clock = SystemHostClock()
        let deadline = clock.now() + 60_000_000_000
        while true {
            do throws(ConnectorError) {
                return try await NATSEngine.migrate(settings(stream: stream), targets: targets, lease: lease)
            } catch {
                guard error.isRetryable, clock.now() < deadline else { throw error }
            }
        }
    }

    deinit {
        for index in ports.indices { kill(index) }
        if let process = try? Self.spawn(["/bin/rm", "-rf", directory]) { _ = waitpid(process, nil, 0) }
    }
}
