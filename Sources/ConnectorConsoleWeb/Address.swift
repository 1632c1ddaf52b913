// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension WebConsole {
    /// The address that a server listens on.
    public struct Address: Sendable, Hashable {
        /// An IP address of this machine without brackets, or `localhost`.
        public var host: String
        /// The port; 0 for any free port.
        public var port: Int

        /// Any free port of the loopback interface.
        public static let loopback = Address(host: "127.0.0.1", port: 0)

        /// Creates an address from a host and a port.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// Parses `127.0.0.1:8901`, `[::1]:8901`, `localhost:8901` or `8901`; nil if the text is not an address.
        public init?(_ text: String) {
            if let port = Int(text), (0...65535).contains(port) {
                self.init(host: "127.0.0.1", port: port)
                return
            }
            guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
                (0...65535).contains(port)
            else { return nil }
            var host = text[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = host.dropFirst().dropLast()
            } else if host.contains(":") {
                return nil
            }
            guard !host.isEmpty else { return nil }
            self.init(host: String(host), port: port)
        }

        /// Whether it is a loopback address, reachable only from this machine.
        public var isLoopback: Bool {
            guard host != "localhost", host != "::1" else { return true }
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        }

        /// Whether it is the wildcard address, which listens on every interface.
        var isAny: Bool { ["0.0.0.0", "::"].contains(host) }

        /// The authority component of its URLs.
        func authority(port: Int) -> String { "\(URLParts.bracketed(host)):\(port)" }
    }
}
