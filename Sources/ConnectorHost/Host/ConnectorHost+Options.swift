// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
public import ConnectorPlatform
public import ConnectorServices

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension ConnectorHost {
    /// Where the outbox keeps its events.
    public enum OutboxEngineKind: String, Sendable, Hashable, CaseIterable {
        /// A file, in the directory that `state` names in `connectors.json`, or in one of the user's own.
        case sqlite
        /// The memory of the process, which loses them at its end: for tests.
        case memory
    }

    /// Settings of a host that its file does not hold; the defaults suit an application.
    public struct Options: Sendable {
        /// The variables that `${NAME}` and `{"secret": "env:NAME"}` read.
        public var environment: Configuration.Environment
        /// Where to look for plugins after the directories of the file and of `CONNECTOR_PLUGIN_PATH`.
        public var pluginDirectories: [String]
        /// The host's clock; tests stop and move theirs.
        public var clock: any HostClock
        /// Where `storage/1` keeps its files; nil chooses `$XDG_STATE_HOME/connector-host`, or
        /// `~/.local/state/connector-host`.
        public var stateDirectory: String?
        /// Connections, timeouts, proxies and trusted authorities of plugins' HTTP requests.
        public var http: HTTPOptions
        /// Where the outbox keeps its events.
        public var outbox: OutboxEngineKind = .sqlite
        /// Whether this host delivers what is in the outbox; one that does not only adds to it.
        package var delivers = true
        /// Whether ``ConnectorHost/run()`` waits for the gates to open, and throws if a required one does not.
        ///
        /// If false, the service starts at once and the gates open beside it. Those that fail heal, and other services
        /// await ``ConnectorHost/ready()``.
        public var waitsForRequiredGates = true
        /// How long ``ConnectorHost/close()`` lets vendors answer for the batches that they are being sent.
        public var closingGrace: Duration = .seconds(10)
        /// Whether gates that fail are tried again. False suits a command that opens once and shows the report, which
        /// alone says then what failed.
        package var heals = true
        /// Draws the wait between two attempts to open: a number of nanoseconds between zero and its argument.
        package var jitter: @Sendable (UInt64) -> UInt64 = { bound in bound == 0 ? 0 : UInt64.random(in: 0...bound) }

        /// Takes the process's environment, the executable's directory and the system's clock; nil for `http` asks the
        /// environment.
        public init(
            environment: Configuration.Environment = .process,
            pluginDirectories: [String] = [Self.executableDirectory].compactMap(\.self),
            clock: any HostClock = SystemHostClock(),
            stateDirectory: String? = nil,
            http: HTTPOptions? = nil
        ) {
            self.environment = environment
            self.pluginDirectories = pluginDirectories
            self.clock = clock
            self.stateDirectory = stateDirectory
            self.http = http ?? HTTPOptions(environment: environment)
        }
    }
}

extension ConnectorHost.Options {
    /// The directory of the running program, where bundled plugins lie; nil if the system does not tell.
    public static var executableDirectory: String? {
        #if os(Linux)
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                guard let start = buffer.baseAddress else { return 0 }
                return unsafe readlink("/proc/self/exe", start.assumingMemoryBound(to: CChar.self), buffer.count)
            }
            let path = count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
        #else
            let path = CommandLine.arguments.first
        #endif
        guard let path, let slash = path.lastIndex(of: "/") else { return nil }
        return String(path[..<slash])
    }
}
