// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The service manager that started the command, such as systemd, which learns how far it is: see sd_notify(3).
struct ServiceManager: Sendable {
    /// The socket that takes its messages; one with an at sign in front is an abstract one, which only Linux has.
    private let name: String
    /// How often to report that the command works; nil if nothing watches.
    let interval: Duration?

    /// Reads the variables of the process; nil if no service manager wants messages.
    ///
    /// - Parameter process: The number of this process. A watchdog may be for another one.
    init?(_ variable: (String) -> String?, process: Int32 = getpid()) {
        guard let socket = variable("NOTIFY_SOCKET"), socket.utf8.count > 1,
            socket.hasPrefix("/") || socket.hasPrefix("@")
        else {
            return nil
        }
        name = socket
        let isMeant = variable("WATCHDOG_PID").map { $0 == "\(process)" } ?? true
        interval = variable("WATCHDOG_USEC").flatMap { isMeant ? Int64($0) : nil }.flatMap { microseconds in
            microseconds > 0 ? Duration.microseconds(max(1, microseconds / 2)) : nil
        }
    }

    /// The gates have opened, or have failed for the first time.
    func ready() { notify("READY=1") }

    /// The command takes up a changed configuration; ``ready()`` says when it has.
    func reloading() { notify("RELOADING=1\nMONOTONIC_USEC=\(SystemTime.monotonic() / 1000)") }

    /// The command ends.
    func stopping() { notify("STOPPING=1") }

    /// Reports that the command works, until the task is cancelled. It runs on the threads of all tasks.
    ///
    /// - Parameter look: Looks at what has to work. While it does not return, nothing is reported.
    func watch(_ look: () -> Void = {}) async {
        guard let interval else { return }
        while !Task.isCancelled {
            look()
            notify("WATCHDOG=1")
            try? await Task.sleep(for: interval)
        }
    }

    /// Sends a message. One that does not arrive is no fault of the host.
    private func notify(_ text: String) {
        #if canImport(Glibc)
            let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_DGRAM
        #endif
        var address = sockaddr_un()
        var path = Array(name.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.count < room else { return }
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // An abstract name has no end but that of the address, and a path has one zero more than its bytes.
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(start + path.count + (path[0] == 0 ? 0 : 1))
        let bytes = Array(text.utf8)
        _ = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), address, length)
            }
        }
    }
}
