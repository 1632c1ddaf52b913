// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// What a console shows and acts on: a host, a model of the application's own, or both.
///
/// Every requirement but ``snapshot(for:)`` has a default. `HostConsoleModel` is the model of a host; an application's model may
/// wrap it and add values of its own:
///
/// ```swift
/// struct SiteModel: ConsoleModel {
///     let sites: SiteStore
///
///     func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
///         var snapshot = ConsoleSnapshot()
///         snapshot[Sites.self] = await sites.current
///         return snapshot
///     }
/// }
/// ```
public protocol ConsoleModel: Sendable {
    /// Yields whenever the snapshot may have changed; pending changes are merged into one. For a single consumer. By default it yields
    /// once a second.
    var changes: AsyncStream<Void> { get }

    /// The scenes that the model adds, such as those that plugins describe. They may change when the snapshot does.
    var scenes: [SceneDescriptor] { get }

    /// Keeps the model up to date until the task is cancelled. By default it does nothing.
    func run() async

    /// The current state.
    ///
    /// - Parameter routes: The visible routes. Data that they do not show need not be queried.
    func snapshot(for routes: [Route]) async -> ConsoleSnapshot

    /// Performs an act on the host. Acts of the application are never passed to it.
    ///
    /// - Returns: The outcome, with a sentence for the operator on success and on failure.
    func perform(_ act: ConsoleAct) async -> ActOutcome
}

extension ConsoleModel {
    /// Yields once a second.
    public var changes: AsyncStream<Void> {
        let clock = ContinuousClock()
        return AsyncStream { try? await clock.sleep(for: .seconds(1)) }
    }

    /// None.
    public var scenes: [SceneDescriptor] { [] }

    /// Does nothing.
    public func run() async {}

    /// Refuses: there is no host.
    public func perform(_ act: ConsoleAct) async -> ActOutcome {
        .failure(of: act, ConnectorError(.unsupported, "this console has no host"))
    }
}

/// The model of a console that shows nothing but the application's own scenes.
public struct EmptyConsoleModel: ConsoleModel {
    /// Creates the model.
    public init() {}

    /// A snapshot that contains only the time.
    public func snapshot(for routes: [Route]) async -> ConsoleSnapshot { ConsoleSnapshot() }
}
