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
            if let port = Self.number(text[...], in: 0...65535) {
                self.init(host: "127.0.0.1", port: port)
                return
            }
            guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
                let port = Self.number(text[text.utf8.index(after: colon)...], in: 0...65535)
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
            let parts = host.split(ascii: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { Self.number($0, in: 0...255) != nil }
        }

        /// The number that a text denotes; nil if it has other characters than digits, or none, or is out of range.
        private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
            guard text.utf8.allSatisfy(\.isDigit), let number = Int(text), range.contains(number) else { return nil }
            return number
        }

        /// Whether it is the wildcard address, which listens on every interface.
        var isAny: Bool { ["0.0.0.0", "::"].contains(host) }

        /// The authority component of its URLs.
        var authority: String { "\(URLParts.bracketed(host)):\(port)" }
    }
}
