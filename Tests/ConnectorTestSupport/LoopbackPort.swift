// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Ports of the loopback interface.
package enum LoopbackPort {
    /// Ports that systems do not use for outgoing connections. A client that tries to reach a port of that other range may be given it
    /// as its own, is then connected to itself, and keeps the server out.
    private static let range: ClosedRange<UInt16> = 10_000...30_000

    /// A port that nobody listens on, and that no outgoing connection takes.
    package static func free() throws -> UInt16 { try free(1)[0] }

    /// Ports that nobody listens on, and that no outgoing connection takes.
    package static func free(_ count: Int) throws -> [UInt16] {
        var (ports, descriptors): ([UInt16], [Int32]) = ([], [])
        defer { for descriptor in descriptors { close(descriptor) } }
        for _ in 0..<100 * count where ports.count < count {
            #if canImport(Glibc)
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            descriptors.append(descriptor)
            let port = UInt16.random(in: range)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let isBound = unsafe withUnsafePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isBound { ports.append(port) }
        }
        guard ports.count == count else { throw ConnectorError(.failed, "no free port for a test") }
        return ports
    }
}
