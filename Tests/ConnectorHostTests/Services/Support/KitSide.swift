// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import Testing

@testable import ConnectorKit
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The host's side of one instance, whose services are real.
@safe
final class KitSide: @unchecked Sendable {
    // Sendable: written in `init` alone.
    let plugin: PluginSide
    let http: any HTTPService
    let clock: any ClockService
    let connection: HostConnection
    private let host: UnsafeMutablePointer<connector_host>

    init(_ plugin: PluginSide = PluginSide()) throws {
        self.plugin = plugin
        unsafe host = .allocate(capacity: 1)
        unsafe host.initialize(
            to: connector_host(
                struct_size: UInt32(MemoryLayout<connector_host>.size),
                abi_version: CONNECTOR_ABI_VERSION,
                context: UnsafeMutableRawPointer(host),
                service: { _, _, _ in nil },
                complete: { _, _, _, _, _, _ in Int32(CONNECTOR_UNKNOWN_OPERATION) },
                progress: { _, _, _, _ in Int32(CONNECTOR_UNKNOWN_OPERATION) }
            )
        )
        connection = unsafe HostConnection(UnsafePointer(host))
        clock = unsafe HostClock(connection, try #require(plugin.clock))
        http = unsafe HostHTTP(connection, try #require(plugin.http), clock: SystemClock())
    }

    deinit {
        unsafe host.deallocate()
    }
}
