// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorServices

/// What takes the place of a connector's vendor while the gates are simulated: the value of `simulate`.
package enum SimulatorReference: Sendable, Hashable {
    /// A server on this machine.
    case server(URLParts)
    /// A file of recorded answers, by its path.
    case answers(file: String)
    /// Nothing: the plugin makes no requests, and opens unchanged.
    case local

    /// The largest file of answers, in bytes.
    package static let sizeLimit = 4 << 20

    /// Reads the value of `simulate`; nil for a server that is not on this machine, and for a text that is none of the
    /// three.
    init?(_ text: String, base: BaseDirectory) {
        if text == "local" {
            self = .local
        } else if text.contains("://") {
            guard let url = URLParts(text), Self.isThisMachine(url.host), !url.rest.contains("#") else { return nil }
            self = .server(url)
        } else if !text.isEmpty, text.utf8.count <= 4096, !text.utf8.contains(0) {
            self = .answers(file: base.resolve(text))
        } else {
            return nil
        }
    }

    private static func isThisMachine(_ host: String) -> Bool {
        NetworkAddress(host)?.isLoopback ?? (host == "localhost")
    }

    /// The text of a file of answers.
    ///
    /// - Throws: `not-found`, `unreadable` or `too-large`.
    package static func text(of file: String) throws(ConnectorError) -> [UInt8] {
        try SmallFile(reading: file, limit: sizeLimit).bytes
    }
}
