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
        /// None; what a sandbox would refuse is printed, as settings.
        case learn
    }

    /// How much of the sandbox must hold.
    public var level: Level
    /// Absolute paths that the plugin may read, with all below them. One that cannot be opened is left out, and reported.
    public var read: [String]
    /// Absolute paths below which the plugin may read, make, change and remove files; as for ``read``.
    public var write: [String]
    /// Absolute paths that other plugins may write, and that are above some of this one's: no symbolic link below them is
    /// followed.
    package var writtenByOthers: [String] = []
    /// Whether the plugin may make sockets for IPv4 and IPv6. Requests through the host need none.
    public var network: Bool
    /// The most private memory, in bytes; nil for no bound.
    public var memory: Int?
    /// The most processor time, as a number of processors, such as 0.5; nil for no bound. It needs a control group.
    public var cpu: Double?
    /// The most threads; nil for no bound. It needs a user namespace.
    public var threads: Int?

    /// Creates settings. By default, the plugin reads libraries and time zones, writes nothing, and has no network.
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

extension SandboxSettings {
    /// Whether the plugin may do anything that it may not by default.
    package var allowsMore: Bool { network || !read.isEmpty || !write.isEmpty }

    /// The settings of one of several plugins.
    ///
    /// - Parameter paths: What all of them may write.
    package func beside(writersOf paths: Set<String>) -> SandboxSettings {
        var settings = self
        settings.writtenByOthers = paths.subtracting(write).filter { path in
            (read + write).contains { $0.hasPrefix(path + "/") }
        }.sorted()
        return settings
    }
}

extension SandboxSettings: CustomStringConvertible {
    /// The settings as a person writes them: `default, read /etc/shop, memory 67108864`.
    public var description: String {
        var parts = [level.rawValue]
        parts += read.map { "read \($0)" } + write.map { "write \($0)" }
        if network { parts.append("network") }
        if let memory { parts.append("memory \(memory)") }
        if let cpu { parts.append("cpu \(cpu)") }
        if let threads { parts.append("threads \(threads)") }
        return parts.joined(separator: ", ")
    }
}
