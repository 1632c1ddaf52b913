// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// A connection to a NATS cluster, on which any number of requests are under way at once.
///
/// A lost connection is made anew by itself; requests meanwhile end at their time.
final class NATSConnection: Sendable {
    /// Takes an answer, on the connection's thread, and tells whether it was the last one.
    typealias Taker = @Sendable (NATSMessage) -> Bool

    /// The requests under way, by their numbers.
    private final class Book: Sendable {
        private struct State {
            var takers: [UInt64: Taker] = [:]
            /// The requests for a consumer's messages, oldest first.
            var pulls: [String: [UInt64]] = [:]
            var last: UInt64 = 0
        }

        private let state = Mutex(State())
        /// What the subjects of answers begin with.
        let inbox: String

        init(inbox: String) {
            self.inbox = inbox
        }

        func add(_ consumer: String?, _ taker: @escaping Taker) -> UInt64 {
            state.withLock { state in
                state.last += 1
                state.takers[state.last] = taker
                if let consumer { state.pulls[consumer, default: []].append(state.last) }
                return state.last
            }
        }

        func remove(_ number: UInt64) {
            state.withLock { state in
                state.takers[number] = nil
                for (consumer, numbers) in state.pulls where numbers.contains(number) {
                    let others = numbers.filter { $0 != number }
                    state.pulls[consumer] = others.isEmpty ? nil : others
                }
            }
        }

        /// The request that a message is for: the last token of its subject, or for a stored message, which keeps its own
        /// subject, the oldest one for its consumer.
        func number(_ subject: String, _ reply: String) -> UInt64? {
            if subject.hasPrefix(inbox) { return UInt64(subject.dropFirst(inbox.utf8.count + 1)) }
            guard let consumer = NATSLease(reply)?.consumer else { return nil }
            return state.withLock { $0.pulls[consumer]?.first }
        }

        /// Hands an answer to the one who asked; what nobody waits for any more is left.
        func take(_ number: UInt64, _ message: NATSMessage) {
            guard let taker = state.withLock({ $0.takers[number] }), taker(message) else { return }
            remove(number)
        }
    }

    private let inbox: String
    private let book: Book
    /// The address of the library's connection; nil once it is closed. The lock keeps it alive during a call.
    private let address: Mutex<UInt?>

    /// Opens the library and connects.
    ///
    /// - Throws: `storage` if the library is missing, or no server takes the connection.
    static func connect(_ settings: NATSSettings) async throws(ConnectorError) -> NATSConnection {
        let opened: Result<NATSConnection, ConnectorError> = unsafe await withUnsafeContinuation { continuation in
            let isStarted = HostThread.start("nats") {
                do throws(ConnectorError) {
                    unsafe continuation.resume(returning: .success(try NATSConnection(settings)))
                } catch {
                    unsafe continuation.resume(returning: .failure(error))
                }
            }
            guard !isStarted else { return }
            let error = ConnectorError(.storage, "the system has no thread to give", isRetryable: true)
            unsafe continuation.resume(returning: .failure(error))
        }
        return try opened.get()
    }

    /// Why the client library cannot be used; nil if it can. The first look opens it.
    static var libraryFailure: String? { unsafe cnats_load().map { unsafe String(cString: $0) } }

    /// Connects, and blocks meanwhile.
    private init(_ settings: NATSSettings) throws(ConnectorError) {
        if let reason = Self.libraryFailure {
            throw ConnectorError(
                .storage,
                "the outbox cannot be used: libnats, the client of NATS, does not open",
                fix: "install it, on Debian: apt-get install libnats3.4",
                cause: reason
            )
        }
        var random = SystemRandomNumberGenerator()
        let inbox = "_INBOX.\(String(random.next(), radix: 36))\(String(random.next(), radix: 36))"
        let book = Book(inbox: inbox)
        let context = unsafe Unmanaged.passRetained(book)
        var reason = [CChar](repeating: 0, count: 512)
        let made = unsafe Self.withOptions(settings) { options in
            unsafe cnats_connect(options, inbox, Self.handler, context.toOpaque(), &reason, reason.count)
        }
        guard let made = unsafe made else {
            unsafe context.release()
            let cause = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw ConnectorError(
                .storage,
                "the outbox cannot be used: no NATS server takes the connection: \(cause)",
                fix: "check \"url\" and the credentials in \"outbox\" of connectors.json, and that the servers run",
                isRetryable: true
            )
        }
        self.inbox = inbox
        self.book = book
        address = Mutex(UInt(bitPattern: made))
    }

    /// Hands an answer to its request.
    private static let handler: cnats_handler = { context, message in
        guard let context = unsafe context, let subject = unsafe cnats_subject(message) else { return }
        let book = unsafe Unmanaged<Book>.fromOpaque(context).takeUnretainedValue()
        let message = unsafe NATSMessage(message)
        guard let number = book.number(unsafe String(cString: subject), message.reply) else { return }
        book.take(number, message)
    }

    private static func withOptions<Value>(
        _ settings: NATSSettings,
        _ body: (UnsafePointer<cnats_options>) -> Value
    ) -> Value {
        unsafe settings.url.withCString { url in
            unsafe withText(settings.credentials) { credentials in
                unsafe withText(settings.token) { token in
                    unsafe withText(settings.authorities) { authorities in
                        unsafe "connector-host".withCString { name in
                            var options = unsafe cnats_options(
                                url: url,
                                name: name,
                                credentials: credentials,
                                token: token,
                                authorities: authorities,
                                is_encrypted: settings.isEncrypted || settings.authorities != nil,
                                timeout: 2000
                            )
                            return unsafe body(&options)
                        }
                    }
                }
            }
        }
    }

    private static func withText<Value>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Value) -> Value {
        guard let text else { return body(nil) }
        return unsafe text.withCString { unsafe body($0) }
    }

    // MARK: Sending

    /// Sends a message.
    ///
    /// - Parameter reply: The number of the request that gets the answers; nil for none.
    /// - Throws: `too-large` if the server takes no message of that size; `storage` if it cannot be sent.
    func send(
        _ data: [UInt8],
        to subject: String,
        reply: UInt64? = nil,
        _ headers: NATSHeaders = NATSHeaders()
    ) throws(ConnectorError) {
        let reply = reply.map { "\(inbox).\($0)" }
        let status = address.withLock { address -> Int32? in
            guard let address, let connection = unsafe OpaquePointer(bitPattern: address) else { return nil }
            return unsafe Self.withText(reply) { reply in
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
        guard let status else { throw ConnectorError(.storage, "the outbox has closed") }
        guard status != 0 else { return }
        guard !cnats_is_too_large(status) else {
            throw ConnectorError(
                .tooLarge,
                "the event is larger than the NATS server takes: \(data.count) bytes",
                fix: "send less, or raise max_payload of the server"
            )
        }
        throw ConnectorError(
            .storage,
            "the outbox cannot be used: NATS: \(unsafe String(cString: cnats_text(status)))",
            isRetryable: true
        )
    }

    /// Begins a request: its answers go to a function, until that says that there are no more, or ``end(_:)``.
    ///
    /// - Parameter consumer: The consumer whose messages are answers, too.
    /// - Returns: Its number.
    func begin(_ consumer: String? = nil, _ taker: @escaping Taker) -> UInt64 { book.add(consumer, taker) }

    /// Ends a request.
    func end(_ number: UInt64) { book.remove(number) }

    // MARK: Ending

    /// Sends what is on its way, and closes.
    func close() async {
        guard let address = address.withLock({ $0.take() }) else { return }
        unsafe await withUnsafeContinuation { continuation in
            let isStarted = HostThread.start("nats") { [book] in
                Self.close(address, book)
                unsafe continuation.resume()
            }
            guard !isStarted else { return }
            Self.close(address, book)
            unsafe continuation.resume()
        }
    }

    deinit {
        guard let address = address.withLock({ $0.take() }) else { return }
        let book = book
        if !HostThread.start("nats", { Self.close(address, book) }) { Self.close(address, book) }
    }

    /// Closes the library's connection, and releases the book that it was lent.
    private static func close(_ address: UInt, _ book: Book) {
        guard let connection = unsafe OpaquePointer(bitPattern: address) else { return }
        unsafe cnats_close(connection)
        unsafe Unmanaged.passUnretained(book).release()
    }
}
