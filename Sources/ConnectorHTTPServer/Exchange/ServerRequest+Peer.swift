// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

extension ServerRequest {
    /// The key by which a client's requests are counted: its IPv4 address, or the first half of its IPv6 address, the network.
    static func peer(_ address: SocketAddress?) -> String {
        guard let text = address?.ipAddress else { return "" }
        guard case .v6 = address else { return text }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard unsafe inet_pton(AF_INET6, text, &bytes) == 1 else { return text }
        // IPv4 addresses mapped to IPv6 all share the first half, so they are kept whole.
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return bytes.prefix(isMapped ? 16 : 8).map { String($0, radix: 16) }.joined(separator: ":")
    }
}
