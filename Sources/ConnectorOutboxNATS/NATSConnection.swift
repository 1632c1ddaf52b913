// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// A connection to a NATS cluster, shared by any number of concurrent requests.
///
/// Reconnects automatically, with settings read again if no server accepts the old ones; requests in flight time out.
final class NATSConnection: Sendable {
    /// Receives a response, on the library's thread, and returns whether it was the last one.
    typealias ResponseHandler = @Sendable (NATSMessage) -> Bool

    let pending: NATSPendingRequests
    let renewed: Renewal
    /// Removes secrets from texts of the servers.
    let redact: @Sendable (String) -> String
    let state: Mutex<State>
    let clock = SystemHostClock()
    let makeThread: HostThread.Make
    private let waits: NATSSettings.Waits

    /// Reads the settings again, with the current credentials.
    typealias Renewal = @Sendable () throws(ConnectorError) -> NATSSettings

    struct State {
        /// The library's connection; nil while there is none.
        var library: Library?
        /// The reason that there is none.
        var failure: ConnectorError?
        /// The number of the last connection of the library that was begun.
        var begun: UInt64 = 0
        /// The number of the last one that was lost, perhaps before it was in ``library``.
        var lost: UInt64 = 0
        /// When ``library`` was opened.
        var openedAt: UInt64 = 0
        /// The last attempt to reconnect; nil if no server could be reached.
        var attempt: Attempt?
        var isClosed = false
    }

    /// What the handlers of one connection of the library belong to.
    fileprivate final class Session: Sendable {
        let pending: NATSPendingRequests
        let number: UInt64

        init(_ pending: NATSPendingRequests, _ number: UInt64) {
            (self.pending, self.number) = (pending, number)
        }
    }

    /// A connection of the C library, closed when the last reference is released.
    final class Library: Sendable {
        let address: UInt
        let ended = OneShot<Void>()
        private let isReleased = Monitor(false)

        /// Starts the thread that will close the connection.
        ///
        /// Closing blocks until the library has called the handlers for the last time. One of them may release the last reference, when
        /// the system may be unable to create a thread.
        ///
        /// - Parameter session: Referenced by the library until it has closed the connection.
        /// - Returns: Nil if the system cannot create the thread; the connection is closed then.
        fileprivate init?(_ address: UInt, _ session: Session, _ makeThread: HostThread.Make) {
            self.address = address
            let (ended, isReleased) = (ended, isReleased)
            let close: @Sendable () -> Void = {
                if let connection = unsafe OpaquePointer(bitPattern: address) { unsafe cnats_close(connection) }
                withExtendedLifetime(session) {}
                ended.send()
            }
            let isStarted = makeThread("nats") {
                isReleased.wait { $0 ? Monitor<Bool>.Step<Void>.proceed(()) : .wait(until: nil) }
                close()
            }
            guard !isStarted else { return }
            close()
            return nil
        }

        deinit {
            isReleased.withLock { $0 = true }
            isReleased.signal()
        }
    }

    /// Loads the library and connects.
    ///
    /// The library reconnects after a lost connection, always with the settings that it had, and gives up when the servers refuse its
    /// credentials twice. When it has given up, or nothing arrives any longer, this class reconnects with new settings, until it is
    /// closed.
    ///
    /// The library may never return. Its thread is then left behind, and closes the connection if there is one after all.
    ///
    /// - Parameter makeThread: Starts a thread; tests make it fail.
    /// - Throws: `storage` if the library is missing, no server accepts the connection, or that takes longer than
    ///   ``NATSSettings/connectingLimit``; `cancelled` if the task is cancelled first.
    static func connect(
        _ settings: NATSSettings,
        renewed: @escaping Renewal,
        redact: @escaping @Sendable (String) -> String = { $0 },
        makeThread: @escaping HostThread.Make = { HostThread.start($0, $1) }
    ) async throws(ConnectorError) -> NATSConnection {
        let connection = NATSConnection(settings.waits, renewed, redact, makeThread)
        let opened = OneShot<Result<Void, ConnectorError>>()
        let isStarted = makeThread("nats") {
            do throws(ConnectorError) {
                try connection.open(settings) { opened.send(.failure($0)) }
                opened.send(.success(()))
            } catch {
                opened.send(.failure(error))
            }
        }
        if !isStarted { opened.send(.failure(lackOfThreads)) }
        switch await opened.waitUnlessCancelled() {
        case .success?: return connection
        case .failure(let error)?:
            connection.beginClosing()
            throw error
        case nil:
            connection.beginClosing()
            throw ConnectorError(.cancelled, "the task was cancelled before a NATS server had accepted the connection")
        }
    }

    /// The reason that the client library cannot be loaded; nil if it can. The first access loads it.
    static var libraryFailure: String? { unsafe cnats_load().map { unsafe String(cString: $0) } }

    private init(
        _ waits: NATSSettings.Waits,
        _ renewed: @escaping Renewal,
        _ redact: @escaping @Sendable (String) -> String,
        _ makeThread: @escaping HostThread.Make
    ) {
        var random = SystemRandomNumberGenerator()
        let inbox = "_INBOX.\(String(random.next(), radix: 36))\(String(random.next(), radix: 36))"
        pending = NATSPendingRequests(inbox: inbox)
        (self.waits, self.renewed, self.redact, self.makeThread) = (waits, renewed, redact, makeThread)
        state = Mutex(State())
        pending.on(
            NATSPendingRequests.Events(
                ended: { [weak self] in self?.lose($0, Self.closure) },
                deaf: { [weak self] number, words in
                    guard let self else { return }
                    lose(number, denial(words))
                },
                unclaimed: { [weak self] in self?.release($0) }
            )
        )
    }

    /// Connects. Blocks the calling thread, for as long as the library does not return.
    ///
    /// - Parameter onDelay: Called on the clock's thread after ``NATSSettings/connectingLimit``, with the reason.
    func open(
        _ settings: NATSSettings,
        onDelay: @escaping @Sendable (ConnectorError) -> Void
    ) throws(ConnectorError) {
        if let reason = Self.libraryFailure {
            throw ConnectorError(
                .storage,
                "the outbox cannot be used: libnats, the client library of NATS, cannot be loaded",
                fix: "install it, on Debian: apt-get install libnats3.4",
                cause: reason
            )
        }
        try settings.checkCertificates()
        let user = try settings.readCredentials()
        let timer = try startLimit(settings, onDelay)
        let number = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let session = Session(pending, number)
        var handlers = unsafe cnats_handlers(
            take: Self.handler,
            end: Self.end,
            deny: Self.denial,
            context: Unmanaged.passUnretained(session).toOpaque()
        )
        var reason = [CChar](repeating: 0, count: 512)
        var status: Int32 = 0
        let made = unsafe Self.withOptions(settings, user) { options in
            unsafe cnats_connect(options, pending.inbox, &handlers, &status, &reason, reason.count)
        }
        endLimit(timer, settings)
        defer { withExtendedLifetime(session) {} }
        guard let made = unsafe made else {
            let isReachable = !cnats_is_unreachable(status)
            // Servers that are away are looked for all the time; those that refuse are asked ever less often.
            if !isReachable { state.withLock { $0.attempt = nil } }
            var cause = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if isReachable, let expiry = user?.expiry, expiry <= clock.wallTime() {
                cause += "; the user's JWT has expired at \(expiry)"
            }
            let limit = cnats_is_overdue(status) ? " within \(settings.waits.connectionText)" : ""
            throw error(
                .storage,
                "the outbox cannot be used: no NATS server at \(settings.url.excerpt) accepts the connection\(limit): \(cause)",
                fix: Self.remedy(status, cause, settings),
                isRetryable: true
            )
        }
        guard let library = Library(UInt(bitPattern: made), session, makeThread) else { throw Self.lackOfThreads }
        let failure = state.withLock { state -> ConnectorError? in
            guard !state.isClosed, state.lost < number else { return state.failure ?? Self.closure }
            (state.library, state.failure, state.openedAt) = (library, nil, clock.now())
            return nil
        }
        if let failure { throw failure }
    }

    /// What to do about servers that accept no connection.
    ///
    /// - Parameter words: What the library says about it.
    private static func remedy(_ status: Int32, _ words: String, _ settings: NATSSettings) -> String {
        if cnats_lacks_encryption(status) {
            return "set up \"tls\" on the servers, without allow_non_tls: "
                + "libnats before 3.8 encrypts only where servers require it"
        }
        if cnats_is_overdue(status) {
            return "check \"url\" in \"outbox\" of connectors.json, and that NATS servers run there; connecting takes "
                + "three round trips, up to five with TLS, and may take \(settings.waits.connectionText), "
                + "which cannot be changed: use servers that are nearer"
        }
        let usual =
            "check \"url\", \"tls\" and the credentials in \"outbox\" of connectors.json, and that the servers run"
        if cnats_failed_handshake(status), clearTextSigns.contains(where: { words.contains($0) }) {
            return usual
                + "; a server that has reached its max_connections, or shuts down, refuses in clear text: see its log"
        }
        guard cnats_is_cut_off(status) else { return usual }
        return usual
            + "; servers that verify clients end the connection like this if they get no certificate that they trust: "
            + (settings.certificate == nil ? "set \"cert\" and \"key\" in \"tls\"" : "see their logs")
    }

    /// What OpenSSL says when the server sends something else than TLS, or nothing.
    private static let clearTextSigns = ["wrong version number", "unexpected eof"]

    static var lackOfThreads: ConnectorError {
        ConnectorError(.storage, "the outbox cannot be used: the system cannot create a thread", isRetryable: true)
    }

    /// The error after the library has closed a connection.
    static var closure: ConnectorError {
        ConnectorError(
            .storage,
            "the outbox cannot be used: the NATS server has closed the connection",
            fix: "see the server's log; changed credentials are read automatically",
            isRetryable: true
        )
    }

    /// Passes a message to its request.
    private static let handler: cnats_handler = { context, message in
        guard let context = unsafe context, let subject = unsafe cnats_subject(message) else { return }
        let session = unsafe Unmanaged<Session>.fromOpaque(context).takeUnretainedValue()
        session.pending.take(unsafe NATSMessage(message), subject: unsafe String(cString: subject))
    }

    /// Called when the library has closed the connection.
    private static let end: cnats_end = { context in
        guard let context = unsafe context else { return }
        let session = unsafe Unmanaged<Session>.fromOpaque(context).takeUnretainedValue()
        session.pending.end(session.number)
    }

    /// Called when the server has denied a message or a subscription.
    private static let denial: cnats_denial = { context, words in
        guard let context = unsafe context else { return }
        let session = unsafe Unmanaged<Session>.fromOpaque(context).takeUnretainedValue()
        session.pending.deny(unsafe String(cString: words), session.number)
    }

    /// The error for what the server denies.
    ///
    /// - Parameter words: Its words, which name the subject.
    func denial(_ words: String) -> ConnectorError {
        error(
            .storage,
            "the outbox cannot be used: NATS: \(words)",
            fix:
                "grant it to the user in the configuration of the NATS servers; the guide to the outbox lists what is needed",
            isRetryable: true
        )
    }

    /// Creates an error with the text of a server, in which secrets are redacted.
    func error(
        _ code: ConnectorError.Code,
        _ message: String,
        fix: String? = nil,
        cause: String? = nil,
        isRetryable: Bool = false
    ) -> ConnectorError {
        ConnectorError(code, redact(message), fix: fix, cause: cause.map(redact), isRetryable: isRetryable)
    }

    /// The reason that there is no connection.
    private var disconnection: ConnectorError {
        state.withLock(\.failure) ?? ConnectorError(.storage, "the outbox has closed")
    }

    // MARK: Sending

    /// Sends a message.
    ///
    /// Blocks the calling thread while the library tries to reconnect, which is within ``NATSSettings/Waits/connection`` unless the
    /// library is stuck: see ``startLimit(_:_:)``.
    ///
    /// - Parameter reply: The number of the request that receives the responses; nil for none.
    /// - Throws: `too-large` if the message exceeds the server's maximum size; `storage` if it cannot be sent.
    func send(
        _ data: [UInt8],
        to subject: String,
        reply: UInt64? = nil,
        _ headers: NATSHeaders = NATSHeaders()
    ) throws(ConnectorError) {
        let reply = reply.map { "\(pending.inbox).\($0)" }
        let sent: Int32? = unsafe withLibrary { connection in
            unsafe Self.withText(reply) { reply in
                unsafe Self.withText(headers.id) { id in
                    unsafe Self.withText(headers.event) { event in
                        unsafe Self.withText(headers.failure) { failure in
                            var headers = unsafe cnats_headers(id: id, event: event, failure: failure)
                            return unsafe data.withUnsafeBytes { bytes in
                                unsafe cnats_publish(
                                    connection,
                                    subject,
                                    reply,
                                    &headers,
                                    bytes.baseAddress,
                                    bytes.count
                                )
                            }
                        }
                    }
                }
            }
        }
        guard let status = sent else { throw disconnection }
        guard status != 0 else { return }
        guard !cnats_is_too_large(status) else { throw Self.tooLarge(data.count) }
        throw ConnectorError(
            .storage,
            "the outbox cannot be used: NATS: \(unsafe String(cString: cnats_text(status)))",
            isRetryable: true
        )
    }

    /// The error for an event that is too large for the server.
    static func tooLarge(_ count: Int) -> ConnectorError {
        ConnectorError(
            .tooLarge,
            "the event has \(count) bytes, more than the NATS server accepts with its headers and \(NATSEngine.letterReserve) "
                + "bytes for the reason of a dead letter",
            fix: "send a smaller event, or increase max_payload of the server"
        )
    }

    /// Whether the server accepts a message of a size in bytes, headers included; true if its limit is not known.
    func accepts(_ size: Int) -> Bool {
        let limit = unsafe withLibrary { unsafe cnats_max_payload($0) } ?? 0
        return limit <= 0 || size <= limit
    }

    /// Calls a body with the library's connection; nil while there is none. The library does its own locking, so ``state`` is free meanwhile.
    private func withLibrary<Value>(_ body: (OpaquePointer) -> Value) -> Value? {
        let library = state.withLock(\.library)
        guard let library, let connection = unsafe OpaquePointer(bitPattern: library.address) else { return nil }
        defer { withExtendedLifetime(library) {} }
        return unsafe body(connection)
    }

    /// Releases a leased message, for immediate redelivery to any host. If that fails, its lease expires.
    ///
    /// - Parameter reply: The message's reply subject.
    func release(_ reply: String) { try? send(Array("-NAK".utf8), to: reply) }

    /// Releases several leased messages before closing, on a thread of its own, which is left behind if the library is stuck.
    func releaseAll(_ replies: [String]) async {
        guard !replies.isEmpty else { return }
        let released = OneShot<Void>()
        let release: @Sendable () -> Void = {
            for reply in replies { self.release(reply) }
            released.send()
        }
        if !makeThread("nats", release) { release() }
        _ = await released.wait(by: clock.now().saturatingAdding(waits.closing), on: clock)
    }

    /// Begins a request, whose responses go to a handler until it returns true or ``end(_:)`` is called.
    ///
    /// - Parameters:
    ///   - subject: Where it is sent; if the server denies that, the handler receives a message of the status 403.
    ///   - consumer: A consumer whose messages are also responses; nil for none.
    /// - Returns: The number of the request.
    func begin(_ subject: String, _ consumer: String? = nil, _ handler: @escaping ResponseHandler) -> UInt64 {
        pending.add(subject, consumer, handler)
    }

    /// Ends a request.
    func end(_ number: UInt64) { pending.remove(number) }

    // MARK: Ending

    /// Flushes sent messages, and closes. A library that takes longer than ``NATSSettings/Waits/closing`` is left behind with its thread.
    func close() async {
        guard let ended = beginClosing() else { return }
        _ = await ended.wait(by: clock.now().saturatingAdding(waits.closing), on: clock)
    }

    /// Begins to close, without waiting for concurrent senders, which may still hold a reference to the library's connection, nor for an
    /// attempt to connect, which closes what it gets.
    ///
    /// - Returns: The end of the library's connection; nil if there is none.
    @discardableResult
    private func beginClosing() -> OneShot<Void>? {
        let library = state.withLock { state in
            (state.isClosed, state.failure) = (true, nil)
            return state.library.take()
        }
        return library?.ended
    }
}
