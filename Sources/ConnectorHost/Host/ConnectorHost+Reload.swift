// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConfiguration

/// Changes of the configuration, secrets and plugins while the host runs: see <doc:Reloading>.
extension ConnectorHost {
    /// Reads the file again, and applies what has changed in it, in its secrets and in its plugins.
    ///
    /// Connectors that have not changed keep their instances and connections. A changed one opens a successor beside
    /// its instance, and calls are directed to the successor once it has given evidence. A file with a fault changes
    /// nothing. Reloads requested while another is in progress are served together by the next one.
    ///
    /// Cancelling the caller's task does not end the reload.
    ///
    /// - Returns: How the reload ended. It throws nothing: see ``Reload/requireActive()``.
    @discardableResult
    public func reload() async -> Reload { await reloader.reload(Reloader.Request()) }

    /// Applies another configuration, as ``reload()`` applies the file.
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
        try await ReloadRun(reloader, reloader.dependencies).plan(Reloader.Request())
    }

    /// Returns what ``reload(_:)`` would change now, without changing anything.
    ///
    /// - Throws: Every fault in the configuration.
    public func plan(_ configuration: Configuration) async throws(ConfigurationErrors) -> Plan {
        try await ReloadRun(reloader, reloader.dependencies).plan(Reloader.Request(configuration: configuration))
    }

    /// Reloads if everything that a plan was made from is unchanged.
    ///
    /// - Parameter plan: A plan from ``plan()``.
    /// - Returns: How the reload ended; with `conflict` and the names of what has changed since, if anything has.
    @discardableResult
    public func apply(_ plan: Plan) async -> Reload { await reload(ifStill: plan.basis) }

    /// Replaces the image that a connector's plugin was loaded from, and reloads.
    ///
    /// The new image is first checked as for loading: it must be a library for this system, match the lock, be signed
    /// if the configuration demands it, and keep the operation signatures that callers use. If it fails a check, no
    /// file changes. Otherwise it is copied beside the old image, with its `.minisig` if it has one, and renamed over
    /// it. If no connector uses it in the end, because it does not open, the old file is restored.
    ///
    /// - Parameters:
    ///   - path: A leaf. Other leaves of the same image use the new one, too.
    ///   - file: The new image, of a plugin with the same id.
    /// - Returns: How the reload ended. It throws nothing: see ``Reload/requireActive()``.
    @discardableResult
    public func swap(_ path: String, with file: String) async -> Reload {
        await swap(path, with: file, ifStill: nil)
    }

    /// Swaps if everything is as it was when `basis` was taken; nil swaps in any state.
    package func swap(_ path: String, with file: String, ifStill basis: Plan.Basis?) async -> Reload {
        await reloader.reload(Reloader.Request(basis: basis, swap: ImageSwap(path: path, file: file)))
    }

    /// Returns what ``swap(_:with:)`` would change now, without changing anything.
    ///
    /// - Throws: Why the image cannot replace the old one.
    public func plan(swapping path: String, with file: String) async throws(ConfigurationErrors) -> Plan {
        let request = Reloader.Request(swap: ImageSwap(path: path, file: file))
        return try await ReloadRun(reloader, reloader.dependencies).plan(request)
    }

    /// Reloads if everything is as it was when `basis` was taken; nil reloads in any state.
    package func reload(ifStill basis: Plan.Basis?) async -> Reload {
        await reloader.reload(Reloader.Request(basis: basis))
    }
}
