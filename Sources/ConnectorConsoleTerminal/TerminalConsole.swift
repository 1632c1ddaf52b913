// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole
public import ConnectorHost
public import ConnectorManifest
internal import ConnectorPlatform

/// The console of a host in the terminal of its process.
///
/// ```swift
/// try await TerminalConsole.run(host)
/// ```
///
/// It takes the whole screen until somebody quits, and gives it back on every way out. What the process prints meanwhile is
/// shown as one of the tabs.
public enum TerminalConsole {
    /// How the terminal is used.
    public struct Options: Sendable {
        /// What is shown first.
        public var route: Route
        /// What can be shown.
        public var registry: ConsoleRegistry
        /// How it looks.
        public var styles: StyleSheet
        /// The variables that say what the terminal can do.
        public var environment: Configuration.Environment

        /// Takes its parts.
        public init(
            route: Route = .gates,
            registry: ConsoleRegistry = .standard,
            styles: StyleSheet = .standard,
            environment: Configuration.Environment = .process
        ) {
            self.route = route
            self.registry = registry
            self.styles = styles
            self.environment = environment
        }
    }

    /// Shows a host until somebody quits, or the task is cancelled. The host is neither opened nor closed.
    ///
    /// - Throws: `unsupported` if the process has no terminal that shows a full screen.
    public static func run(_ host: ConnectorHost, options: Options = Options()) async throws(ConnectorError) {
        try await run(HostConsoleModel(host), options)
    }

    /// Shows what a model says, and follows its host meanwhile.
    package static func run(_ model: HostConsoleModel, _ options: Options) async throws(ConnectorError) {
        let following = Task { await model.run() }
        defer { following.cancel() }
        try await ConsoleLoop.run(model, options)
    }
}
