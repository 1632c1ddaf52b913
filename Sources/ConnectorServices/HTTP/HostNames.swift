// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import NIOCore
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds out whether the host names of a gate's requests have addresses, before connections are made to them.
///
/// getaddrinfo(3) blocks until the DNS server answers, and cannot be given up: 10 s and more if the server is silent. NIO calls it for
/// each connection, one after another on an event loop, so one name would hold up all others. Here, eight names of a gate are looked up
/// at a time, each on a thread of its own and once for all requests that wait for it, and requests give up on time. NIO then looks up
/// only names that have just been found, which is quick. If it was not, as when the first of the DNS servers is dead, it would not be the
/// second time either: then requests connect to an address that was found, and NIO looks up nothing.
package final class HostNames: Sendable {
    /// What the system says of a name.
    package enum Answer: Sendable, Equatable {
        /// Its addresses, in the order in which to try them.
        case addresses([String])
        /// There is no such name, or it has no address.
        case absent
        /// The look-up failed, for the system's reason.
        case failed(String)

        /// Reads an error of getaddrinfo(3).
        init(error: Int32) {
            #if canImport(Glibc)
                // The others are EAI_NODATA and EAI_ADDRFAMILY, which glibc declares only with _GNU_SOURCE.
                let absences = [EAI_NONAME, -5, -9]
            #else
                let absences = [EAI_NONAME, EAI_NODATA, EAI_ADDRFAMILY]
            #endif
            self = unsafe absences.contains(error) ? .absent : .failed(String(cString: gai_strerror(error)))
        }
    }

    /// How a wait for a name ended.
    package enum Outcome: Sendable, Equatable {
        case found
        /// The name has no address.
        case absent
        /// It could not be looked up, for the system's reason.
        case failed(String)
        /// The look-up did not finish in time.
        case late
        /// The look-up never started: other names are still being looked up.
        case crowded
        case cancelled
    }

    /// A name that was found.
    private struct Found: Sendable {
        /// Until when it need not be looked up again.
        var end: NIODeadline
        /// The addresses to connect to, best first; none if looking it up was quick.
        var addresses: [String]
    }

    /// A request that waits for a name.
    private struct Waiter: Sendable {
        /// Ends the wait at the deadline.
        let timer: Scheduled<Void>
        let end: @Sendable (Outcome) -> Void

        /// Passes the outcome to the request. Call it on the event loop, where cancelling the timer wakes no thread.
        func notify(_ outcome: Outcome) {
            timer.cancel()
            end(outcome)
        }
    }

    private struct State: Sendable {
        /// The names that were found.
        var found: [String: Found] = [:]
        /// The waiting requests, by name and ticket.
        var waiters: [String: [UInt64: Waiter]] = [:]
        /// The names of the waiting requests, by ticket.
        var names: [UInt64: String] = [:]
        /// The names to look up, in order. Each has a waiter.
        var queue: [String] = []
        /// The names that are being looked up.
        var running: Set<String> = []
    }

    /// How many names are looked up at a time.
    private static let limit = 8

    private let loop: any EventLoop
    private let timeout: TimeAmount
    private let validity: TimeAmount
    private let slowness: TimeAmount
    private let answer: @Sendable (String) -> Answer
    private let state = Mutex(State())

    /// Creates the names of a gate without looking one up.
    ///
    /// - Parameters:
    ///   - loop: Where requests receive the outcome.
    ///   - options: How long requests wait, and how names are looked up.
    init(loop: any EventLoop, options: HTTPOptions) {
        self.loop = loop
        timeout = TimeAmount(upToADay: options.connectTimeout)
        validity = TimeAmount(upToADay: options.lookUpValidity)
        slowness = TimeAmount(upToADay: options.slowLookUp)
        answer = options.lookUp
    }

    /// Whether a connection may be made to a host: it is an address, or its name was found a moment ago.
    func isFound(_ host: String) -> Bool {
        #if canImport(Darwin)
            // The Network framework resolves names, many at a time.
            return true
        #else
            if NetworkAddress(host) != nil { return true }
            guard let end = state.withLock({ $0.found[host]?.end }) else { return false }
            return end > NIODeadline.now()
        #endif
    }

    /// The address to connect to, so that the name is not looked up again; nil if that is quick.
    func address(of host: String) -> String? {
        state.withLock { $0.found[host]?.addresses.first }
    }

    /// Forgets that a name was found: no connection was made to it.
    ///
    /// - Parameter address: The address that was tried, if it was one of ``address(of:)``.
    /// - Returns: Whether there is another address to try.
    func forget(_ host: String, at address: String?) -> Bool {
        state.withLock { state in
            if let address, var found = state.found[host] {
                found.addresses.removeAll { $0 == address }
                state.found[host] = found.addresses.isEmpty ? nil : found
            } else {
                state.found[host] = nil
            }
            return state.found[host] != nil
        }
    }

    /// Looks a name up.
    ///
    /// - Parameters:
    ///   - ticket: For ``giveUp(_:_:)``; no other request has it.
    ///   - end: Called once, on the event loop.
    func lookUp(_ host: String, ticket: UInt64, _ end: @escaping @Sendable (Outcome) -> Void) {
        state.withLock { state in
            let isNew = state.waiters[host] == nil
            let timer = loop.scheduleTask(in: timeout) { [weak self] in
                guard let self else { return }
                self.giveUp(ticket, self.isRunning(host) ? .late : .crowded)
            }
            state.waiters[host, default: [:]][ticket] = Waiter(timer: timer, end: end)
            state.names[ticket] = host
            if isNew, !state.running.contains(host) { state.queue.append(host) }
        }
        startNext()
    }

    /// Ends the wait of a request that still waits.
    func giveUp(_ ticket: UInt64, _ outcome: Outcome) {
        let waiter = state.withLock { state -> Waiter? in
            guard let host = state.names.removeValue(forKey: ticket) else { return nil }
            let waiter = state.waiters[host]?.removeValue(forKey: ticket)
            if state.waiters[host]?.isEmpty == true {
                state.waiters[host] = nil
                state.queue.removeAll { $0 == host }
            }
            return waiter
        }
        guard let waiter else { return }
        loop.execute { waiter.notify(outcome) }
    }

    private func isRunning(_ host: String) -> Bool { state.withLock { $0.running.contains(host) } }

    /// Starts as many look-ups as may run.
    private func startNext() {
        while let host = next() {
            let isStarted = HostThread.start("names") {
                let start = NIODeadline.now()
                let answer = self.answer(host)
                self.finish(host, answer, isSlow: NIODeadline.now() - start >= self.slowness)
                self.startNext()
            }
            // If no thread starts, the connection resolves the name itself.
            if !isStarted { finish(host, .addresses([]), isSlow: false) }
        }
    }

    private func next() -> String? {
        state.withLock { state in
            guard state.running.count < Self.limit, !state.queue.isEmpty else { return nil }
            let host = state.queue.removeFirst()
            state.running.insert(host)
            return host
        }
    }

    private func finish(_ host: String, _ answer: Answer, isSlow: Bool) {
        let waiters = state.withLock { state -> [UInt64: Waiter] in
            state.running.remove(host)
            if case .addresses(let addresses) = answer {
                let now = NIODeadline.now()
                if state.found.count >= 64 { state.found = state.found.filter { $0.value.end > now } }
                state.found[host] = Found(end: now + validity, addresses: isSlow ? addresses : [])
            }
            let waiters = state.waiters.removeValue(forKey: host) ?? [:]
            for ticket in waiters.keys { state.names[ticket] = nil }
            return waiters
        }
        let outcome: Outcome =
            switch answer {
            case .addresses: .found
            case .absent: .absent
            case .failed(let reason): .failed(reason)
            }
        // Tickets are numbered: in the order of the requests.
        for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { loop.execute { waiter.notify(outcome) } }
    }

    /// Asks the system for a name. Blocks, for as long as the DNS servers make it.
    static func systemAnswer(_ host: String) -> Answer {
        // All zero: any kind of address, as for a connection.
        var hints = unsafe addrinfo()
        var result: UnsafeMutablePointer<addrinfo>?
        let error = unsafe getaddrinfo(host, nil, &hints, &result)
        if error == EAI_SYSTEM { return .failed("\(SystemError())") }
        guard error == 0 else { return Answer(error: error) }
        defer { unsafe freeaddrinfo(result) }
        var addresses: [String] = []
        var rest = unsafe result
        while let entry = unsafe rest {
            // The longest address has 45 characters; the name of an interface may follow it.
            var text = [CChar](repeating: 0, count: 80)
            let (address, size) = unsafe (entry.pointee.ai_addr, entry.pointee.ai_addrlen)
            let status = unsafe getnameinfo(address, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // Each comes once for every kind of socket.
            if status == 0, !addresses.contains(name) { addresses.append(name) }
            unsafe rest = entry.pointee.ai_next
        }
        return addresses.isEmpty ? .absent : .addresses(addresses)
    }
}
