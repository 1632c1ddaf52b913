// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Machines for a test behind a switch, to which this process is connected, too: network namespaces of Linux.
///
/// Shells hold the namespaces, so everything ends with this value, and with this process.
package final class NetworkNamespaces: Sendable {
    private let machines: [GuardedProcess]
    private let bridge: GuardedProcess
    /// The prefix of the addresses, in a network reserved for network tests (RFC 2544).
    private let prefix: String

    /// Whether this process may make them; says once what is missing.
    package static let arePossible: Bool = {
        let isPossible = geteuid() == 0 && (try? NetworkNamespaces(1)) != nil
        if !isPossible {
            print("note: without root, iproute2 and network namespaces, no server is cut off from the others")
        }
        return isPossible
    }()

    /// How many have been made; each has a network of its own.
    private static let count = Mutex(0)

    /// Makes some machines, all connected.
    package init(_ count: Int) throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        prefix = "198.18.\((Int(getpid()) + number) % 256)"
        bridge = try GuardedProcess(unshared: "-n")
        machines = try (0..<count).map { _ in try GuardedProcess(unshared: "-n") }
        let link = "ch\(getpid())-\(number)"
        try ip("link add \(link) type veth peer name uplink netns \(bridge.identifier)")
        try ip("addr add \(address)/24 dev \(link)")
        try ip("link set \(link) up")
        try ip("link add switch type bridge", in: bridge)
        try ip("link set switch up", in: bridge)
        try ip("link set uplink master switch up", in: bridge)
        for (index, machine) in machines.enumerated() {
            try ip("link add port\(index) type veth peer name eth0 netns \(machine.identifier)", in: bridge)
            try ip("link set port\(index) master switch up", in: bridge)
            try ip("addr add \(address(index))/24 dev eth0", in: machine)
            try ip("link set eth0 up", in: machine)
            try ip("link set lo up", in: machine)
        }
    }

    /// The address of this process.
    package var address: String { "\(prefix).254" }

    /// The address of a machine.
    package func address(_ machine: Int) -> String { "\(prefix).\(machine + 1)" }

    /// What runs a program on a machine.
    package func command(_ machine: Int) -> [String] { Self.command(machines[machine]) }

    /// Cuts a machine off: what it sends vanishes, and so does what is sent to it.
    package func cut(_ machine: Int) throws { try ip("link set port\(machine) nomaster", in: bridge) }

    /// Connects a machine again.
    package func join(_ machine: Int) throws { try ip("link set port\(machine) master switch", in: bridge) }

    /// Makes a machine unable to send to the others, except to this process.
    package func isolate(_ machine: Int) throws { try route("add", machine) }

    /// Lets a machine send to the others again.
    package func readmit(_ machine: Int) throws { try route("del", machine) }

    private func route(_ change: String, _ machine: Int) throws {
        for other in machines.indices where other != machine {
            try ip("route \(change) blackhole \(address(other))", in: machines[machine])
        }
    }

    private static func command(_ machine: GuardedProcess) -> [String] {
        ["/usr/bin/nsenter", "-t", "\(machine.identifier)", "-n"]
    }

    private func ip(_ arguments: String, in machine: GuardedProcess? = nil) throws {
        let command =
            (machine.map(Self.command) ?? []) + ["/usr/bin/env", "ip"]
            + arguments.split(separator: " ").map(String.init)
        guard GuardedProcess.run(command) else { throw ConnectorError(.failed, "a test cannot do: ip \(arguments)") }
    }
}
