// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What the host lends one instance of a plugin.
///
/// A service that the manifest names neither as required nor as optional is refused by the host: `http` then throws
/// `denied`, `log` and `events` drop, `clock` is the system's, `storage` is nil.
public struct Host: Sendable {
    /// HTTP requests to the hosts that the connector may reach (`http/1`).
    public var http: any HTTPService
    /// The application's log (`log/1`).
    public var log: Log
    /// The time and timers (`clock/1`).
    public var clock: any ClockService

    /// News for the application (`events/1`).
    public var events: Events
    /// Values that survive a restart (`storage/1`); nil if the manifest does not name it.
    public var storage: (any StorageService)?

    /// Puts services together, as tests do.
    public init(
        http: any HTTPService = DeniedHTTP(),
        log: Log = Log(level: .critical) { _, _, _ in },
        clock: any ClockService = SystemClock(),
        events: Events = Events { _, _ in },
        storage: (any StorageService)? = nil
    ) {
        self.http = http
        self.log = log
        self.clock = clock
        self.events = events
        self.storage = storage
    }
}
