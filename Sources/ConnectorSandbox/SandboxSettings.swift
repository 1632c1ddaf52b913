// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a plugin in a process of its own may do, and how much of the machine it may use.
public struct SandboxSettings: Sendable, Hashable {
    /// How much of the sandbox must hold.
    public enum Level: String, Sendable, CaseIterable {
        /// Every layer, or the plugin does not open.
        case required
        /// What the system has; the rest is reported.
        case `default`
        /// None.
        case off
        /// None, but what one would refuse is printed, as settings.
        case learn
    }

    /// How much of it must hold.
    public var level: Level
    /// Absolute paths that the plugin may read, with all below them.
    public var read: [String]
    /// Absolute paths below which the plugin may read, make, change and remove files. They must exist.
    public var write: [String]
    /// Whether the plugin may make sockets for IPv4 and IPv6. Requests through the host need none.
    public var network: Bool
    /// The most private memory, in bytes; nil for no bound.
    public var memory: Int?
    /// The most processor time, as a number of processors, such as 0.5; nil for no bound. It needs a control group.
    public var cpu: Double?
    /// The most threads; nil for no bound. It needs a user namespace.
    public var threads: Int?

    /// Directories of libraries, besides those of the system and of this program; those that are not there are left out.
    package var libraries: [String] = []

    /// Makes settings. Without any, the plugin reads libraries and time zones, writes nothing, and has no network.
    public init(
        level: Level = .default,
        read: [String] = [],
        write: [String] = [],
        network: Bool = false,
        memory: Int? = nil,
        cpu: Double? = nil,
        threads: Int? = nil
    ) {
        self.cpu = cpu
        self.level = level
        self.read = read
        self.write = write
        self.network = network
        self.memory = memory
        self.threads = threads
    }
}
