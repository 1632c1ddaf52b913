// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

/// Acts on calls that gates have left pending, in the name of their gates.
///
/// The fixtures remember them by name for the whole process. Where plugins run in this process, a gate of another host finds them. In
/// runners each host has processes of its own, so there a gate beside each host's own ones does.
enum PendingCalls {
    /// Whether plugins run in runners, as the hosts of `ConnectorHost.testing` take it from the environment.
    static let areRemote = ProcessEnvironment.current["CONNECTOR_TESTING_ISOLATION"]?.text == "process"

    /// The plugins that leave calls pending by name.
    private static let plugins = ["calls", "serial"]
    fileprivate static let names = Set(plugins.map(name))
    private static let hosts = Mutex<[@Sendable () -> ConnectorHost?]>([])

    private static func name(of plugin: String) -> String { "\(plugin)-by-name" }

    private static func leaf(of plugin: String) -> String {
        TestHost.leaf(name(of: plugin), plugin: plugin, settings: #""probe": "off", "required": false"#)
    }

    /// The leaves that a host, or a file for its reload, needs beside its own ones.
    static func leaves(beside leaves: [String]) -> [String] {
        guard areRemote else { return [] }
        return plugins.filter { plugin in leaves.contains { $0.contains(#""plugin": "\#(plugin)""#) } }.map(leaf)
    }

    /// A host was made, and may have pending calls.
    static func register(_ host: ConnectorHost) {
        guard areRemote else { return }
        hosts.withLock { hosts in
            hosts.removeAll { $0() == nil }
            hosts.append { [weak host] in host }
        }
    }

    /// Calls an operation that names a pending call, as soon as it is pending.
    ///
    /// - Returns: What the host answered to the plugin.
    static func perform(_ operation: String, _ arguments: JSONObject, plugin: String) async throws -> JSONValue {
        let own = areRemote ? nil : try TestHost(leaf(of: plugin)).host
        await own?.open()
        while true {
            for host in own.map({ [$0] }) ?? hosts.withLock({ $0.compactMap { $0() } }) {
                do throws(ConnectorError) {
                    return try await host.gate(name(of: plugin)).call(operation, arguments)
                } catch {
                    // Another host may have no such gate, or a closed one.
                    try #require(error.code == .missing || areRemote)
                }
            }
            try await Task.checkedYield()
        }
    }
}

extension Report {
    /// The gates of the test's own connectors.
    var ownGates: [GateReport] { gates.filter { !PendingCalls.names.contains($0.path) } }
}
