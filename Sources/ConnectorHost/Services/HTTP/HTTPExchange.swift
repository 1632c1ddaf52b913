// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest

/// A request from its first connection to its last redirect.
struct HTTPExchange: Sendable {
    /// What to send first.
    let request: OutgoingRequest
    /// Where it may go.
    let egress: EgressList
    /// What sends it.
    let transport: HTTPTransport

    /// What came of it.
    struct Outcome: Sendable {
        /// The response or why there is none.
        var result: Result<HTTPReply, ServiceFailure>
        /// Bytes of bodies sent.
        var bytesSent: UInt64 = 0
        /// Bytes of bodies received.
        var bytesReceived: UInt64 = 0
    }

    /// Sends, and follows redirects that are allowed.
    func run() async -> Outcome {
        var outcome = Outcome(result: .failure(.notOpen))
        var current = request
        do throws(ServiceFailure) {
            for _ in 0...transport.options.redirectLimit {
                try egress.check(current.url)
                outcome.bytesSent += UInt64(current.body.count)
                let reply = try await transport.send(current)
                outcome.bytesReceived += UInt64(reply.body.count)
                guard [301, 302, 303, 307, 308].contains(reply.status),
                    let location = reply.fields.first(named: "location")
                else {
                    outcome.result = .success(try reply.decompressed(limit: transport.options.responseLimit))
                    return outcome
                }
                current = try current.redirected(status: reply.status, to: location)
            }
            outcome.result = .failure(
                .violation(
                    "the server \(request.url.authority) redirects more than \(transport.options.redirectLimit) times"
                )
            )
        } catch {
            outcome.result = .failure(error)
        }
        return outcome
    }
}
