// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The services that the host lends one instance of a plugin.
///
/// The host withholds a service that the manifest names neither as required nor as optional. Then `http` throws
/// `denied`, `log` and `events` discard their input, `clock` is the system's, and `storage` is nil.
public struct Host: Sendable {
    /// HTTP requests to the hosts that the connector may reach (`http/1`).
    public var http: any HTTPService
    /// The application's log (`log/1`).
    public var log: Log
    /// The time and timers (`clock/1`).
    public var clock: any ClockService

    /// Unsolicited events for the application (`events/1`).
    public var events: Events
    /// Values that survive a restart (`storage/1`); nil if the manifest does not name it.
    public var storage: (any StorageService)?
    /// The gates that the plugin uses (`gates/1`): see ``gate(_:)``. They refuse every call if the manifest has no `uses`.
    public var gates: any GateService

    /// Creates a host from services, for tests.
    public init(
        http: any HTTPService = DeniedHTTP(),
        log: Log = Log(level: .critical) { _, _, _ in },
        clock: any ClockService = SystemClock(),
        events: Events = Events { _, _ in },
        storage: (any StorageService)? = nil,
        gates: any GateService = NoGates()
    ) {
        self.http = http
        self.log = log
        self.clock = clock
        self.events = events
        self.storage = storage
        self.gates = gates
    }
}
