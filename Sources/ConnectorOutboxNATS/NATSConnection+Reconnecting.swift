// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// Reconnecting, with settings, credentials and certificates read again.
extension NATSConnection {
    /// The delay before reconnecting, in nanoseconds.
    fileprivate static let pause: UInt64 = 250_000_000
    /// The longest delay between attempts that servers refuse, so that they neither fill their logs nor ban the host.
    fileprivate static let longestPause: UInt64 = 5_000_000_000

    /// An attempt to reconnect.
    struct Attempt {
        var access: Access
        /// How long to wait before the next one, unless something else is in the files then.
        var pause: UInt64
        var time: UInt64

        /// The attempt that follows another one, if it is not too soon.
        ///
        /// - Parameters:
        ///   - last: The attempt before; nil if no server could be reached then.
        ///   - arrival: When something last arrived: since an attempt that succeeded, nothing needs to wait.
        static func next(after last: Self?, _ access: Access, at time: UInt64, arrival: UInt64) -> Self? {
            guard let last, last.access == access, arrival < last.time else {
                return Self(access: access, pause: NATSConnection.pause, time: time)
            }
            guard time >= last.time.saturatingAdding(last.pause) else { return nil }
            return Self(access: access, pause: min(2 * last.pause, NATSConnection.longestPause), time: time)
        }
    }

    /// Everything that decides whether servers accept a connection.
    struct Access: Equatable {
        private var settings: NATSSettings
        private var files: [[UInt8]]

        init(_ settings: NATSSettings) {
            self.settings = settings
            let paths = [settings.credentials, settings.authorities, settings.certificate, settings.key]
            files = paths.map { path in path.flatMap { try? SystemFile.bytes(of: $0, limit: 65_536) } ?? [] }
        }
    }

    /// Gives up a connection of the library, and reconnects, unless that is under way or this object is closed. May be called on the
    /// library's threads.
    ///
    /// The next one begins only when the library has closed the last one: two that are subscribed to the same inbox would each get every
    /// leased event.
    ///
    /// - Parameters:
    ///   - number: The number of the connection, which may still be about to be stored in ``State/library``.
    ///   - failure: The reason, until there is another connection.
    func lose(_ number: UInt64, _ failure: ConnectorError) {
        let library = state.withLock { state -> Library? in
            guard !state.isClosed, number == state.begun, state.lost < number else { return nil }
            (state.lost, state.failure) = (number, failure)
            return state.library.take()
        }
        guard let ended = library?.ended else { return }
        Task { [weak self] in
            await ended.wait()
            self?.reconnect()
        }
    }

    /// Gives up the connection if nothing has arrived since a time: the library notices neither that a server has withdrawn its
    /// subscription nor that none will ever accept its certificates.
    ///
    /// - Parameter failure: The error of what is sent until there is another connection.
    func renew(ifSilentSince time: UInt64, _ failure: ConnectorError) {
        let number = state.withLock { state -> UInt64? in
            state.library != nil && max(state.openedAt, pending.arrival) < time ? state.begun : nil
        }
        if let number { lose(number, failure) }
    }

    /// Tries to connect after a delay, until it succeeds or the connection is closed.
    private func reconnect() {
        _ = clock.schedule(after: Self.pause) { [weak self] in
            guard let self else { return }
            let isStarted = self.makeThread("nats") { [weak self] in
                guard let self, !self.state.withLock(\.isClosed) else { return }
                do throws(ConnectorError) {
                    let settings = try self.renewed()
                    guard self.startAttempt(Access(settings)) else { return self.reconnect() }
                    try self.open(settings) { [weak self] in self?.fail($0) }
                } catch {
                    self.fail(error)
                    self.reconnect()
                }
            }
            if !isStarted { self.reconnect() }
        }
    }

    /// Sets the reason that there is no connection, unless this object is closed.
    private func fail(_ reason: ConnectorError) {
        state.withLock { state in
            if !state.isClosed { state.failure = reason }
        }
    }

    /// Notes an attempt to connect, unless it is too soon after one that failed in the same way.
    ///
    /// - Returns: Whether to make it.
    private func startAttempt(_ access: Access) -> Bool {
        let (now, arrival) = (clock.now(), pending.arrival)
        return state.withLock { state in
            let next = Attempt.next(after: state.attempt, access, at: now, arrival: arrival)
            state.attempt = next ?? state.attempt
            return next != nil
        }
    }
}
