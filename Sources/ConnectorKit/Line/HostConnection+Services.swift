// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

extension HostConnection {
    /// The services that the host lends, as values that authors use.
    func services() -> Host {
        var host = Host()
        if let table = unsafe table(CONNECTOR_LOG_SERVICE, as: connector_log.self) {
            host.log = unsafe HostLog(self, table).log
        }
        if let table = unsafe table(CONNECTOR_CLOCK_SERVICE, as: connector_clock.self) {
            host.clock = unsafe HostClock(self, table)
        }
        if let table = unsafe table(CONNECTOR_HTTP_SERVICE, as: connector_http.self) {
            host.http = unsafe HostHTTP(self, table, clock: host.clock)
        }
        if let table = unsafe table(CONNECTOR_EVENTS_SERVICE, as: connector_events.self) {
            host.events = unsafe HostEvents(self, table).events
        }
        if let table = unsafe table(CONNECTOR_STORAGE_SERVICE, as: connector_storage.self) {
            host.storage = unsafe HostStorage(self, table)
        }
        if let table = unsafe table(CONNECTOR_GATES_SERVICE, as: connector_gates.self) {
            host.gates = unsafe HostGates(self, table, clock: host.clock)
        }
        return host
    }
}
