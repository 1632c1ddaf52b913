// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The user at the other end of a Unix socket, as reported by the kernel.
///
/// The modes of the directory and the socket keep other users out. This check still works if the modes have been changed, or if
/// another user listens at the path that a configuration names.
enum PeerCredentials {
    /// The peer is a process of another user.
    struct UntrustedPeer: Error {
        /// The id of the user; the maximum value if unknown.
        let user: uid_t
    }

    /// The user of the process that connected to a socket or listens on it; nil if unknown.
    static func user(of descriptor: Int32) -> uid_t? {
        var peer = Credentials()
        var size = socklen_t(MemoryLayout<Credentials>.size)
        guard unsafe getsockopt(descriptor, level, option, &peer, &size) == 0 else { return nil }
        return user(in: peer)
    }

    /// Checks that a connection comes from this user or root. Call it on the connection's event loop.
    ///
    /// - Throws: ``UntrustedPeer``, also if the user is unknown.
    static func check(_ channel: any Channel) throws {
        var user: uid_t?
        if let socket = channel as? any SocketOptionProvider {
            let peer: EventLoopFuture<Credentials> = socket.unsafeGetSocketOption(
                level: NIOBSDSocket.OptionLevel(rawValue: level),
                name: NIOBSDSocket.Option(rawValue: option)
            )
            // On the event loop the future is already complete.
            peer.assumeIsolated().whenSuccess { user = Self.user(in: $0) }
        }
        guard let user, TrustedUsers.contains(user) else { throw UntrustedPeer(user: user ?? .max) }
    }

    #if canImport(Glibc)
        /// `struct ucred` of unix(7).
        private struct Credentials: Sendable {
            var process: pid_t = 0
            var user: uid_t = .max
            var group: gid_t = .max
        }

        private static let level = SOL_SOCKET
        private static let option = SO_PEERCRED

        private static func user(in credentials: Credentials) -> uid_t? { credentials.user }
    #else
        private typealias Credentials = xucred

        /// `SOL_LOCAL`, which the Darwin module does not export.
        private static let level: Int32 = 0
        private static let option = LOCAL_PEERCRED

        private static func user(in credentials: Credentials) -> uid_t? {
            credentials.cr_version == XUCRED_VERSION ? credentials.cr_uid : nil
        }
    #endif
}
