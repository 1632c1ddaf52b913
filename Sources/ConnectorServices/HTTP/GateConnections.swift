// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform
internal import NIOCore
internal import Synchronization

/// The connections of one instance of a gate, which no other instance uses, and their number.
///
/// Connectors share no connection because a server may take the body of one request for the next request: a plugin could then send a
/// request in another connector's name, and receive that one's next request, with its secrets.
package final class GateConnections: Sendable {
    /// A server, as AsyncHTTPClient tells them apart.
    private struct Origin: Hashable, Sendable {
        var scheme: String
        var host: String
        var port: UInt16

        init(_ url: URLParts) {
            scheme = url.scheme
            host = url.host
            port = url.effectivePort
        }
    }

    /// What requests need of one server's connections.
    private struct Use: Sendable {
        /// The requests that are sent, or wait for a connection.
        var requests = 0
        /// The requests that were cancelled: AsyncHTTPClient may still be making their connections.
        var abandoned = 0
        /// When all of those connections are made or have failed, at the latest.
        var settled = NIODeadline.distantPast
    }

    /// A connection that is open, and has been used.
    private struct Used: Sendable {
        var channel: any NIOCore.Channel
        var origin: Origin
        /// The address that its client connects to; nil if that looks the name up.
        var address: String?
    }

    private struct State: Sendable {
        var uses: [Origin: Use] = [:]
        /// The connections that have been used, until they close.
        var used: [ObjectIdentifier: Used] = [:]
        /// The connections that the requests have, or are waiting for.
        var busy = 0
        /// The connections that are open, with and without a request.
        var open = 0
        var isEnded = false

        /// Changes the use of a server, and recounts its connections: as many as requests, within the limit for a server.
        mutating func change(_ origin: Origin, perHost: Int, _ body: (inout Use) -> Void) {
            var use = uses[origin] ?? Use()
            busy -= min(perHost, use.requests + use.abandoned)
            body(&use)
            let count = min(perHost, use.requests + use.abandoned)
            busy += count
            uses[origin] = count == 0 ? nil : use
        }

        /// Forgets the cancelled requests whose connections are made, and so counted as open, or have failed.
        mutating func forgetAbandoned(perHost: Int) {
            let now = NIODeadline.now()
            for (origin, use) in uses where use.abandoned > 0 && use.settled <= now {
                change(origin, perHost: perHost) { $0.abandoned = 0 }
            }
        }
    }

    /// The number of the instance, which no other has.
    let number = ServiceIdentifier.next()
    private let limit: Int
    private let perHost: Int
    private let connectTimeout: TimeAmount
    private let state = Mutex(State())

    /// Creates the count, without a connection.
    package init(options: HTTPOptions) {
        limit = options.connectionLimit ?? Self.defaultLimit(perHost: options.connectionsPerHost)
        perHost = options.connectionsPerHost
        connectTimeout = TimeAmount(upToADay: options.connectTimeout)
    }

    /// A quarter of the descriptors that the process may have, between 64 and 1024; as many as one server may have, at least.
    static func defaultLimit(perHost: Int) -> Int {
        max(perHost, min(1024, max(64, DescriptorLimit.current / 4)))
    }

    /// Whether the instance sends no more requests.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Lets no more connections be made.
    func end() {
        state.withLock { $0.isEnded = true }
    }

    /// Counts a request that is about to be sent. Call ``end(_:isCancelled:)`` once it has ended.
    ///
    /// - Returns: Whether its connection may stay open after it.
    /// - Throws: `rate-limited` if it would need one connection too many.
    func begin(_ url: URLParts) throws(ServiceFailure) -> Bool {
        let origin = Origin(url)
        return try state.withLock { state throws(ServiceFailure) -> Bool in
            if state.busy >= limit { state.forgetAbandoned(perHost: perHost) }
            let use = state.uses[origin] ?? Use()
            guard state.busy < limit || use.requests + use.abandoned >= perHost else {
                throw ServiceFailure(
                    status: Int32(CONNECTOR_RATE_LIMITED),
                    message: "this connector's requests have \(limit) connections, and may have no more",
                    isRetryable: true
                )
            }
            state.change(origin, perHost: perHost) { $0.requests += 1 }
            return state.open < limit
        }
    }

    /// Counts the end of a request.
    ///
    /// - Parameter isCancelled: Whether its connection may still be in the making.
    func end(_ url: URLParts, isCancelled: Bool) {
        let origin = Origin(url)
        state.withLock { state in
            state.change(origin, perHost: perHost) { use in
                use.requests -= 1
                guard isCancelled else { return }
                use.abandoned = min(perHost, use.abandoned + 1)
                use.settled = NIODeadline.now() + connectTimeout
            }
        }
    }

    /// Counts a connection until it closes.
    func count(_ channel: any NIOCore.Channel) {
        state.withLock { $0.open += 1 }
        let id = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.open -= 1
                state.used[id] = nil
            }
        }
    }

    /// Notes to which server a connection leads that was counted.
    ///
    /// - Parameters:
    ///   - url: A URL of the server.
    ///   - address: The address that its client connects to; nil if that looks the name up.
    func use(_ channel: any NIOCore.Channel, for url: String, at address: String?) {
        // A closed one would never be removed.
        guard channel.isActive, let url = URLParts(url) else { return }
        let used = Used(channel: channel, origin: Origin(url), address: address)
        state.withLock { $0.used[ObjectIdentifier(channel)] = used }
    }

    /// Whether a server has more open connections at an address than requests, so that the next request there needs no new one.
    ///
    /// Clients share no connections, and each has an address of its own or none. Requests at other addresses count: to look a name up in
    /// vain costs less than to let a client do so, which would hold up the gate's other requests.
    ///
    /// - Parameter address: The address that the client of the request connects to; nil if that looks the name up.
    func hasFree(for url: URLParts, at address: String?) -> Bool {
        let origin = Origin(url)
        return state.withLock { state in
            let count = state.used.values.count { $0.origin == origin && $0.address == address && $0.channel.isActive }
            return count > state.uses[origin]?.requests ?? 0
        }
    }
}
