// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConfiguration

/// Changing everything while the host runs: see <doc:Reloading>.
extension ConnectorHost {
    /// Reads the file again, and takes up what has changed in it, in its secrets and in its plugins.
    ///
    /// Connectors that have not changed keep their instances and connections. One that has opens a successor beside its instance, and calls
    /// are directed to it once it has given evidence. A file with a fault changes nothing. Reloads that are asked for while one is under
    /// way are served together by the next one.
    ///
    /// Cancelling the caller's task does not end the reload.
    ///
    /// - Returns: How the reload ended; nothing is thrown, see ``Reload/requireActive()``.
    @discardableResult
    public func reload() async -> Reload { await reloader.reload(Reloader.Request()) }

    /// Takes up another configuration, as ``reload()`` takes up the file.
    ///
    /// A later ``reload()`` reads the file of this configuration, if it has one.
    @discardableResult
    public func reload(_ configuration: Configuration) async -> Reload {
        await reloader.reload(Reloader.Request(configuration: configuration))
    }

    /// Returns what ``reload()`` would change now, without changing anything.
    ///
    /// - Throws: Every fault in the file.
    public func plan() async throws(ConfigurationErrors) -> Plan {
        try await ReloadRun(reloader, reloader.environment).plan(Reloader.Request())
    }

    /// Returns what ``reload(_:)`` would change now, without changing anything.
    ///
    /// - Throws: Every fault in the configuration.
    public func plan(_ configuration: Configuration) async throws(ConfigurationErrors) -> Plan {
        try await ReloadRun(reloader, reloader.environment).plan(Reloader.Request(configuration: configuration))
    }

    /// Reloads, if everything that a plan was made from is as it was.
    ///
    /// - Parameter plan: A plan of ``plan()``.
    /// - Returns: How the reload ended; with `conflict` and the names of what has moved since, if anything has.
    @discardableResult
    public func apply(_ plan: Plan) async -> Reload { await reload(ifStill: plan.basis) }

    /// Reloads, if everything is as it was when a plan was made from it; nil for any state.
    package func reload(ifStill basis: Plan.Basis?) async -> Reload {
        await reloader.reload(Reloader.Request(basis: basis))
    }
}
