// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// The limit of attempts to connect that the library itself does not end.
extension NATSConnection {
    /// The number of attempts that have exceeded their limit and go on, by the URL of their servers.
    private static let stuck = Mutex<[String: Int]>([:])

    /// Starts the limit of an attempt to connect; ``endLimit(_:_:)`` must follow when the library has returned.
    ///
    /// A server that accepts a connection and then stays silent keeps the library until that connection ends: libnats before 3.8 if it
    /// does not answer `PING` (github.com/nats-io/nats.c, pull request 707), and libnats before 3.11 if it does not answer in a TLS
    /// handshake. Nothing can interrupt it, so the thread stays with it, and no other attempt joins it there, whoever makes it: before 3.8,
    /// each would also keep a processor busy.
    ///
    /// - Parameter onDelay: Called on the clock's thread once the attempt is stuck, with the reason.
    /// - Throws: `storage` if an attempt at the same servers is stuck.
    func startLimit(
        _ settings: NATSSettings,
        _ onDelay: @escaping @Sendable (ConnectorError) -> Void
    ) throws(ConnectorError) -> HostTimer {
        let (url, limit) = (settings.url, settings.connectingLimit)
        let delay = error(
            .storage,
            "the outbox cannot be used: a NATS server at \(url.excerpt) has accepted the connection, and has not finished "
                + "the handshake within \(Duration.nanoseconds(Int64(clamping: limit)).brief)",
            fix:
                "check what listens at \"url\" in \"outbox\" of connectors.json, and that its hosts can be looked up; the "
                + "next attempt follows when that connection has ended, or the host is restarted; libnats 3.8 or later "
                + "ends such an attempt itself, and 3.11 or later also one with TLS",
            isRetryable: true
        )
        guard Self.stuck.withLock({ $0[url, default: 0] <= 0 }) else { throw delay }
        guard clock.prepare() else { throw Self.lackOfThreads }
        return clock.schedule(after: limit) {
            Self.count(1, at: url)
            onDelay(delay)
        }
    }

    /// Ends the limit of an attempt to connect.
    func endLimit(_ timer: HostTimer, _ settings: NATSSettings) {
        // A timer that fires just now may count after this.
        if !clock.cancel(timer) { Self.count(-1, at: settings.url) }
    }

    /// Changes the number of stuck attempts.
    private static func count(_ change: Int, at url: String) {
        stuck.withLock { stuck in
            let count = stuck[url, default: 0] + change
            stuck[url] = count == 0 ? nil : count
        }
    }
}
