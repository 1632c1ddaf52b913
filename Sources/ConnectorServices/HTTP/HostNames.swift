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
/// getaddrinfo(3) blocks until the DNS server answers, and cannot be given up: 10 s and more if the server is silent. NIO calls it on one
/// thread per event loop, so one name would hold up all others. Here, two names of a gate are looked up at a time, each on a thread of its
/// own and once for all requests that wait for it, and requests give up on time. NIO then looks up only names that have just been found.
package final class HostNames: Sendable {
    /// How a wait for a name ended.
    package enum Outcome: Sendable {
        case found
        /// The name has no address.
        case absent
        /// It was not found out in time.
        case late
        case cancelled
    }

    private typealias Waiter = @Sendable (Outcome) -> Void

    private struct State: Sendable {
        /// The names that were found, and until when they need not be looked up again.
        var found: [String: NIODeadline] = [:]
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
    private static let limit = 2
    /// How long a name that was found is not looked up again.
    private static let validity = TimeAmount.seconds(10)

    private let loop: any EventLoop
    private let timeout: TimeAmount
    private let hasAddress: @Sendable (String) -> Bool
    private let state = Mutex(State())

    /// Creates the names of a gate without looking one up.
    ///
    /// - Parameters:
    ///   - loop: Where requests are told of the outcome.
    ///   - options: How long requests wait, and how names are looked up.
    init(loop: any EventLoop, options: HTTPOptions) {
        self.loop = loop
        timeout = TimeAmount(upToADay: options.connectTimeout)
        hasAddress = options.hasAddress
    }

    /// Whether a connection may be made to a host: it is an address, or its name was found a moment ago.
    func isFound(_ host: String) -> Bool {
        #if canImport(Darwin)
            // The Network framework resolves names, many at a time.
            return true
        #else
            if NetworkAddress(host) != nil { return true }
            guard let end = state.withLock({ $0.found[host] }) else { return false }
            return end > NIODeadline.now()
        #endif
    }

    /// Forgets that a name was found: no connection was made to it.
    func forget(_ host: String) {
        state.withLock { $0.found[host] = nil }
    }

    /// Looks a name up.
    ///
    /// - Parameters:
    ///   - ticket: For ``giveUp(_:_:)``; no other request has it.
    ///   - end: Called once, on the event loop.
    func lookUp(_ host: String, ticket: UInt64, _ end: @escaping @Sendable (Outcome) -> Void) {
        state.withLock { state in
            let isNew = state.waiters[host] == nil
            state.waiters[host, default: [:]][ticket] = end
            state.names[ticket] = host
            if isNew, !state.running.contains(host) { state.queue.append(host) }
        }
        _ = loop.scheduleTask(in: timeout) { [weak self] in
            if let self { self.giveUp(ticket, .late) }
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
        loop.execute { waiter(outcome) }
    }

    /// Starts as many look-ups as may run.
    private func startNext() {
        while let host = next() {
            let isStarted = HostThread.start("names") {
                self.finish(host, hasAddress: self.hasAddress(host))
                self.startNext()
            }
            // Without a thread, the connection finds it out.
            if !isStarted { finish(host, hasAddress: true) }
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

    private func finish(_ host: String, hasAddress: Bool) {
        let waiters = state.withLock { state -> [UInt64: Waiter] in
            state.running.remove(host)
            if hasAddress {
                let now = NIODeadline.now()
                if state.found.count >= 64 { state.found = state.found.filter { $0.value > now } }
                state.found[host] = now + Self.validity
            }
            let waiters = state.waiters.removeValue(forKey: host) ?? [:]
            for ticket in waiters.keys { state.names[ticket] = nil }
            return waiters
        }
        let outcome = hasAddress ? Outcome.found : .absent
        // Tickets are numbered: in the order of the requests.
        for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { loop.execute { waiter(outcome) } }
    }

    /// Whether the system finds an address of a name. Blocks, for as long as the DNS servers make it.
    static func systemHasAddress(_ host: String) -> Bool {
        // All zero, as NIO asks.
        var hints = unsafe addrinfo()
        var result: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &result) == 0 else { return false }
        unsafe freeaddrinfo(result)
        return true
    }
}
