// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    internal import Darwin
#endif

/// The Unix socket of a state directory, which one host at a time listens on.
///
/// The directory has the mode 0700 and the socket 0600. A file lock beside the socket shows whether a host listens, so a stale
/// socket is replaced and that of a running host is not. The kernel releases the lock when the process ends, even in a crash.
package final class ControlSocket: Sendable {
    /// A socket in the directory. A host that simulates has a socket of its own, so it can run beside one that does not.
    package enum Name: String, Sendable {
        /// The socket of a host whose gates open to vendors.
        case control
        /// The socket of a host whose gates open to simulators.
        case simulated = "control-simulated"
    }

    /// The maximum number of connections waiting to be accepted, until the server that serves them sets its own.
    package static let backlog: Int32 = 256

    /// The listening socket. The server closes it.
    package let descriptor: Int32
    private let name: Name
    private let directory: String
    private let folder: Int32
    private let lock: FileLock
    /// The socket's file; nil if it could not be made.
    private let file: FileID?

    /// Binds the socket and listens on it. Creates the directory if it does not exist.
    ///
    /// - Parameter earlier: This process's earlier socket of the directory, whose file is no longer in its place; its
    ///   connections stay. Nil if there is none.
    /// - Throws: `conflict` if another host listens there; `storage` if the directory cannot be used.
    package init(
        _ name: Name = .control,
        in directory: String,
        after earlier: ControlSocket? = nil
    ) throws(ConnectorError) {
        self.name = name
        self.directory = directory
        do throws(SystemError) {
            try Directory.makePrivate(directory)
            folder = try Directory.openPrivate(directory)
        } catch {
            throw Self.failure(name, directory, error)
        }
        let opened = unsafe openat(folder, "\(name.rawValue).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else {
            let reason = SystemError()
            close(folder)
            throw Self.failure(name, directory, reason)
        }
        if let earlier, FileID(opened) == FileID(earlier.lock.descriptor) {
            // This process holds the lock already.
            close(opened)
            lock = earlier.lock
        } else {
            lock = FileLock(opened)
        }
        guard flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = SystemError()
            close(folder)
            guard reason.number == EWOULDBLOCK else { throw Self.failure(name, directory, reason) }
            throw ConnectorError(
                .conflict,
                "another host listens on \(directory)/\(name.rawValue)",
                fix: "query it with connector-host status, or give this host another \"state\" directory",
                isRetryable: true
            )
        }
        descriptor = Self.open()
        // If there is a socket, it is stale: this process holds the lock, so no other host listens.
        _ = unsafe unlinkat(folder, name.rawValue, 0)
        let isListening = Self.startListening(descriptor, name, in: folder, directory)
        let reason = SystemError()
        file = FileID(name.rawValue, in: folder)
        guard isListening else {
            if descriptor >= 0 { close(descriptor) }
            // Everything is initialized, so that `deinit` closes the others.
            throw Self.failure(name, directory, reason)
        }
    }

    /// Binds a socket to a name in an open directory, and listens on it.
    ///
    /// - Returns: Whether it listens; if not, `errno` has the reason.
    private static func startListening(
        _ socket: Int32,
        _ name: Name,
        in folder: Int32,
        _ directory: String
    ) -> Bool {
        guard socket >= 0,
            unsafe withAddress(name.rawValue, in: folder, directory, { unsafe bind(socket, $0, $1) }) == 0,
            unsafe fchmodat(folder, name.rawValue, 0o600, 0) == 0
        else { return false }
        return listen(socket, backlog) == 0
    }

    /// Whether clients find the socket. They do not once its file, or the directory, was removed, moved or replaced.
    package var isInPlace: Bool {
        guard let found = FileID("\(directory)/\(name.rawValue)") else { return false }
        return found == file
    }

    /// Removes the socket's file, unless another one has its name by now. Call it before the object is released, which releases the
    /// lock.
    package func remove() {
        if FileID(name.rawValue, in: folder) == file { _ = unsafe unlinkat(folder, name.rawValue, 0) }
    }

    deinit {
        close(folder)
    }

    /// Connects to the host that listens in a directory, if both belong to this user or to root.
    ///
    /// Blocks for at most 10 seconds.
    ///
    /// - Returns: A connected socket, which the caller closes; nil if no host listens.
    /// - Throws: `denied` if this user has no access to the directory or the socket, or another user owns them, could replace them, or
    ///   listens; `unavailable` if the host does not accept the connection in time, or the system refuses a connection.
    package static func connect(
        _ name: Name = .control,
        in directory: String
    ) throws(ConnectorError) -> Int32? {
        let folder = openDirectory(directory)
        guard folder >= 0 else {
            try checkAbsence(SystemError(), directory)
            return nil
        }
        defer { close(folder) }
        guard try isTrusted(name, folder, directory) else { return nil }
        let descriptor = open()
        guard descriptor >= 0 else { throw unavailable(directory, SystemError()) }
        // Connecting blocks while the backlog is full, which it may be if the host hangs.
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
        var reason: SystemError?
        repeat {
            #if canImport(Glibc)
                let status = unsafe withAddress(name.rawValue, in: folder, directory) {
                    unsafe Glibc.connect(descriptor, $0, $1)
                }
            #else
                let status = unsafe withAddress(name.rawValue, in: folder, directory) {
                    unsafe Darwin.connect(descriptor, $0, $1)
                }
            #endif
            reason = status == 0 ? nil : SystemError()
        } while reason?.number == EINTR
        if let reason {
            close(descriptor)
            try checkAbsence(reason, directory)
            return nil
        }
        guard let user = PeerCredentials.user(of: descriptor), TrustedUsers.contains(user) else {
            close(descriptor)
            throw untrusted(directory, "a process of another user listens on the socket")
        }
        return descriptor
    }

    /// Whether there is a socket that only this user or root can have created.
    ///
    /// Parent directories may belong to any user; only the owners of the opened directory, of the socket and of the listening
    /// process matter.
    ///
    /// - Returns: False if there is no socket.
    private static func isTrusted(
        _ name: Name,
        _ folder: Int32,
        _ directory: String
    ) throws(ConnectorError) -> Bool {
        var socket = stat()
        guard unsafe fstatat(folder, name.rawValue, &socket, AT_SYMLINK_NOFOLLOW) == 0 else {
            try checkAbsence(SystemError(), directory)
            return false
        }
        var status = stat()
        guard unsafe fstat(folder, &status) == 0 else { return false }
        guard TrustedUsers.contains(status.st_uid) else {
            throw untrusted(directory, "the directory belongs to the user \(status.st_uid)")
        }
        guard status.st_mode & 0o022 == 0 else { throw untrusted(directory, "other users can write in the directory") }
        guard TrustedUsers.contains(socket.st_uid) else {
            throw untrusted(directory, "\"\(name.rawValue)\" belongs to the user \(socket.st_uid)")
        }
        return socket.st_mode & S_IFMT == S_IFSOCK
    }

    private static func untrusted(_ directory: String, _ reason: String) -> ConnectorError {
        ConnectorError(
            .denied,
            "the host in \(directory) is not trusted: \(reason)",
            fix: "run the command as the user who runs the host, or choose a \"state\" that only this user can write in"
        )
    }

    /// Returns if the system's error means that no host listens in a directory, and throws the error of any other.
    private static func checkAbsence(_ reason: SystemError, _ directory: String) throws(ConnectorError) {
        switch reason.number {
        // No host listens under a path that is too long or leads in a circle, either.
        case ENOENT, ENOTDIR, ECONNREFUSED, ENAMETOOLONG, ELOOP: return
        case EACCES, EPERM:
            throw ConnectorError(
                .denied,
                "this user has no access to \(directory), where a host may listen",
                fix: "run the command as the user who runs the host",
                cause: reason.description
            )
        case EAGAIN:
            throw ConnectorError(
                .unavailable,
                "the host that listens in \(directory) accepts no connections",
                isRetryable: true
            )
        default: throw unavailable(directory, reason)
        }
    }

    private static func unavailable(_ directory: String, _ reason: SystemError) -> ConnectorError {
        ConnectorError(
            .unavailable,
            "whether a host listens in \(directory) cannot be determined",
            cause: reason.description,
            isRetryable: true
        )
    }

    private static func openDirectory(_ directory: String) -> Int32 {
        #if canImport(Glibc)
            unsafe Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #else
            unsafe Darwin.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #endif
    }

    private static func open() -> Int32 {
        #if canImport(Glibc)
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
    }

    /// Calls a body with the address of a socket in an open directory.
    ///
    /// An address has room for about a hundred bytes, which the path of a state directory may exceed. On Linux, the address
    /// therefore names the directory by its descriptor.
    ///
    /// - Returns: What the body returns; -1 with `ENAMETOOLONG` if the path does not fit.
    private static func withAddress(
        _ name: String,
        in folder: Int32,
        _ directory: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        #if os(Linux)
            let path = Array("/proc/self/fd/\(folder)/\(name)".utf8)
        #else
            let path = Array("\(directory)/\(name)".utf8)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            guard path.count < buffer.count else { return false }
            unsafe buffer.copyBytes(from: path)
            return true
        }
        guard fits else {
            errno = ENAMETOOLONG
            return -1
        }
        return unsafe withUnsafeBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }

    private static func failure(_ name: Name, _ directory: String, _ reason: SystemError) -> ConnectorError {
        ConnectorError(
            .storage,
            "cannot create the control socket \(directory)/\(name.rawValue): \(reason)",
            fix: reason.diskRemedy ?? reason.limitRemedy
        )
    }
}
