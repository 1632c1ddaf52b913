// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorConsole
public import ConnectorHost
internal import ConnectorPlatform

/// The console of a host in the terminal of its process.
///
/// ```swift
/// try await TerminalConsole.run(host)
/// ```
///
/// It occupies the whole screen until the operator quits, and restores it however it ends. A tab shows what the process prints
/// while the console runs.
public enum TerminalConsole {
    /// The settings of the console.
    public struct Options: Sendable {
        /// The first route.
        public var route: Route
        /// The scenes and components.
        public var registry: ConsoleRegistry
        /// The styles.
        public var styles: StyleSheet
        /// The environment variables that describe the terminal.
        public var environment: Configuration.Environment

        /// Creates settings.
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

    /// Shows a host until the operator quits or the task is cancelled. Does not open or close the host.
    ///
    /// A service group that shuts down gracefully waits for the operator, unless it runs the console in
    /// `cancelWhenGracefulShutdown { … }`.
    ///
    /// - Throws: `unsupported` if the process has no terminal with a full screen.
    public static func run(_ host: ConnectorHost, options: Options = Options()) async throws(ConnectorError) {
        try await run(HostConsoleModel(host), options: options)
    }

    /// Shows a model, which needs no host, and runs the model until the operator quits or the task is cancelled.
    ///
    /// ```swift
    /// var registry = ConsoleRegistry.componentsAlone
    /// registry.register(SceneDescriptor(SiteRoute.self, title: "Sites") { place, context in … })
    /// try await TerminalConsole.run(options: TerminalConsole.Options(registry: registry))
    /// ```
    ///
    /// - Throws: `unsupported` if the process has no terminal with a full screen.
    public static func run(
        _ model: any ConsoleModel = EmptyConsoleModel(),
        options: Options
    ) async throws(ConnectorError) {
        try await ConsoleLoop.run(model, options)
    }
}
