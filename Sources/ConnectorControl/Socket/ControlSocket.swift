// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The Unix socket of a state directory, which one host at a time listens on.
///
/// The directory lets only this user in (0700), and the socket has the mode 0600. A lock beside it tells whether a host
/// listens: what an earlier one left behind is replaced, and what belongs to one that runs is not. The end of a process
/// gives the lock back, however it ends.
package final class ControlSocket: Sendable {
    /// The name of the socket in the directory.
    package static let name = "control"

    /// How many clients may wait to be let in.
    package static let backlog: Int32 = 64

    /// The socket, on which clients may wait already; whoever serves it closes it.
    package let descriptor: Int32
    private let folder: Int32
    private let lock: Int32

    /// Binds the socket and listens on it, in a directory that is made if it does not exist.
    ///
    /// - Throws: `conflict` if another host listens there; `storage` if the directory cannot be used.
    package init(in directory: String) throws(ConnectorError) {
        do throws(SystemError) {
            folder = try StateFile.openPrivateDirectory(directory)
        } catch {
            throw Self.failure(directory, error)
        }
        lock = unsafe openat(folder, "\(Self.name).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            let reason = SystemError()
            close(folder)
            throw Self.failure(directory, reason)
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let reason = SystemError()
            close(lock)
            close(folder)
            guard reason.number == EWOULDBLOCK else { throw Self.failure(directory, reason) }
            throw ConnectorError(
                .conflict,
                "another host listens on \(directory)/\(Self.name)",
                fix: "ask it: connector-host status; or give this one a \"state\" of its own",
                isRetryable: true
            )
        }
        descriptor = Self.open()
        // Nobody listens any more, since nobody has the lock.
        _ = unsafe unlinkat(folder, Self.name, 0)
        guard descriptor >= 0,
            unsafe Self.withAddress(Self.name, in: folder, directory, { unsafe bind(descriptor, $0, $1) }) == 0,
            unsafe fchmodat(folder, Self.name, 0o600, 0) == 0,
            listen(descriptor, Self.backlog) == 0
        else {
            let reason = SystemError()
            if descriptor >= 0 { close(descriptor) }
            close(lock)
            close(folder)
            throw Self.failure(directory, reason)
        }
    }

    /// Removes the socket's file. Call it before the lock is given back, which the end of this object does.
    package func remove() {
        _ = unsafe unlinkat(folder, Self.name, 0)
    }

    deinit {
        close(lock)
        close(folder)
    }

    /// Connects to the host that listens in a directory.
    ///
    /// - Returns: A connected socket, which the caller closes; nil if none listens.
    package static func connect(in directory: String) -> Int32? {
        let folder = openDirectory(directory)
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        let descriptor = open()
        guard descriptor >= 0 else { return nil }
        #if canImport(Glibc)
            let status = unsafe withAddress(name, in: folder, directory) { unsafe Glibc.connect(descriptor, $0, $1) }
        #else
            let status = unsafe withAddress(name, in: folder, directory) { unsafe Darwin.connect(descriptor, $0, $1) }
        #endif
        guard status != 0 else { return descriptor }
        close(descriptor)
        return nil
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

    /// Lends the address of a socket in an open directory.
    ///
    /// An address has room for some hundred bytes, fewer than the path of a state directory may have. Linux names the
    /// directory by its descriptor instead.
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
        let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard path.count < place.count else { return false }
            unsafe place.copyBytes(from: path)
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

    private static func failure(_ directory: String, _ reason: SystemError) -> ConnectorError {
        ConnectorError(.storage, "the host cannot be reached through \(directory)/\(name): \(reason)")
    }
}
