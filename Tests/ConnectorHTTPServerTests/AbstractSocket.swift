// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Glibc

    /// Unix sockets whose names are no files.
    enum AbstractSocket {
        /// Opens a socket that does not block, and binds it to a name or connects it.
        ///
        /// - Returns: Its descriptor; nil if the system refuses.
        static func open(_ name: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32? {
            let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let descriptor = socket(AF_UNIX, Int32(kind), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            // The first byte of the path is 0.
            let path: [UInt8] = [0] + Array(name.utf8)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
            let status = unsafe withUnsafeBytes(of: &address) { bytes -> Int32 in
                guard let start = bytes.baseAddress else { return -1 }
                return unsafe call(descriptor, start.assumingMemoryBound(to: sockaddr.self), length)
            }
            guard status == 0 else {
                close(descriptor)
                return nil
            }
            return descriptor
        }
    }
#endif
