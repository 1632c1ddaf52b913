// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Who is at the other end of a Unix socket, as the kernel says.
///
/// The modes of the directory and of the socket keep other users out; this holds even where those were changed, or where another user
/// listens under the path that a file names.
enum PeerCredentials {
    /// The other end is a process of another user.
    struct Stranger: Error {
        /// The user.
        let user: uid_t
    }

    /// The user of the process that connected to a socket or listens on it; nil if the system does not say.
    static func user(of descriptor: Int32) -> uid_t? {
        var peer = Credentials()
        var size = socklen_t(MemoryLayout<Credentials>.size)
        guard unsafe getsockopt(descriptor, level, option, &peer, &size) == 0 else { return nil }
        return user(in: peer)
    }

    /// Ends a connection that comes from another user. Called on the connection's event loop.
    ///
    /// - Throws: ``Stranger``; also if the system does not say who it is.
    static func check(_ channel: any Channel) throws {
        var user: uid_t?
        if let socket = channel as? any SocketOptionProvider {
            let peer: EventLoopFuture<Credentials> = socket.unsafeGetSocketOption(
                level: NIOBSDSocket.OptionLevel(rawValue: level),
                name: NIOBSDSocket.Option(rawValue: option)
            )
            // On the loop it is known at once.
            peer.assumeIsolated().whenSuccess { user = Self.user(in: $0) }
        }
        guard let user, TrustedUsers.contains(user) else { throw Stranger(user: user ?? .max) }
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

        /// `SOL_LOCAL`, which the module does not have.
        private static let level: Int32 = 0
        private static let option = LOCAL_PEERCRED

        private static func user(in credentials: Credentials) -> uid_t? {
            credentials.cr_version == XUCRED_VERSION ? credentials.cr_uid : nil
        }
    #endif
}
