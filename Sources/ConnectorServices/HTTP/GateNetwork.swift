// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// What the requests of all instances of a gate share.
package struct GateNetwork: Sendable {
    private let lease: HTTPLoops.Lease
    /// The host names that the gate's requests wait for.
    package let names: HostNames

    /// The event loop of the requests and of their connections. If a request were on another loop than its connection,
    /// AsyncHTTPClient would end the process when a server answers before the body has ended, and closes: it releases the connection
    /// once the request's loop says that the body is sent.
    package var loop: any EventLoop { lease.loop }

    /// Creates what a gate shares, without looking a name up.
    init(_ lease: HTTPLoops.Lease, options: HTTPOptions) {
        self.lease = lease
        names = HostNames(loop: lease.loop, options: options)
    }
}
