// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The host's calls and phases whose functions may be running in the plugin, and those that the host has given up and asks about.
struct RunningFunctions: Sendable {
    private struct Function: Sendable {
        /// Whether the function has been entered, or is about to be, and has not returned.
        var isInside = false
        /// Whether the host has asked to be told when the function is no longer running.
        var isAskedFor = false
        /// Whether the call has its outcome, so that nothing more is entered for it.
        var isOver = false
    }

    /// By the host's ids.
    private var functions: [UInt64: Function] = [:]
    /// The host's ids, by those of this process.
    private var hosts: [UInt64: UInt64] = [:]

    /// A call or a phase has arrived.
    mutating func arrives(_ host: UInt64) { functions[host] = Function() }

    /// A thread is about to enter its function.
    mutating func enters(_ own: UInt64, _ host: UInt64) {
        hosts[own] = host
        functions[host]?.isInside = true
    }

    /// Its thread is yet to be free, or is about to enter its function after all.
    mutating func waits(_ own: UInt64, _ isWaiting: Bool) {
        if let host = hosts[own] { functions[host]?.isInside = !isWaiting }
    }

    /// Its function has returned, or will not be entered.
    ///
    /// - Returns: The host's id, and whether the host has asked; nil for a function that never entered.
    mutating func returns(_ own: UInt64) -> (host: UInt64, isAskedFor: Bool)? {
        guard let host = hosts.removeValue(forKey: own) else { return nil }
        let isAskedFor = functions[host]?.isAskedFor ?? false
        functions[host]?.isInside = false
        if isAskedFor || functions[host]?.isOver == true { functions[host] = nil }
        return (host, isAskedFor)
    }

    /// The call or the phase has its outcome; its function may still run.
    ///
    /// - Returns: Whether the host has asked, and the function does not run.
    mutating func ends(_ host: UInt64) -> Bool {
        functions[host]?.isOver = true
        guard let function = functions[host], !function.isInside else { return false }
        functions[host] = nil
        return function.isAskedFor
    }

    /// The host has given the call or the phase up, and asks.
    ///
    /// - Returns: Whether nothing is known of it, so that its function no longer runs.
    mutating func asks(_ host: UInt64) -> Bool {
        guard functions[host] != nil else { return true }
        functions[host]?.isAskedFor = true
        return false
    }
}
