// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorServices

/// What replaces a connector's vendor in a simulation: the value of `simulate`.
package enum SimulatorReference: Sendable, Hashable {
    /// A server on this machine.
    case server(URLParts)
    /// The path of a file of recorded answers.
    case answers(file: String)
    /// Answers that are in the configuration itself.
    case inlineAnswers(InlineAnswers)
    /// Nothing: the plugin makes no requests, and opens as usual.
    case local

    /// The maximum size of a file of answers, in bytes.
    package static let sizeLimit = 4 << 20

    /// Parses the value of `simulate`; nil if it is malformed or names a server on another machine.
    init?(_ text: String, base: BaseDirectory) {
        if text == "local" {
            self = .local
        } else if text.contains("://") {
            guard let url = URLParts(text), Self.isThisMachine(url.host), !url.rest.contains("#") else { return nil }
            self = .server(url)
        } else if text.canBePath {
            self = .answers(file: base.resolve(text))
        } else {
            return nil
        }
    }

    /// Parses a value given on the command line, where paths are relative to the working directory.
    package init?(argument text: String) {
        self.init(text, base: BaseDirectory("."))
    }

    private static func isThisMachine(_ host: String) -> Bool {
        NetworkAddress(host)?.isLoopback ?? (host == "localhost")
    }

    /// Reads a file of answers.
    ///
    /// - Throws: `not-found`, `unreadable` or `too-large`.
    package static func text(of file: String) throws(ConnectorError) -> [UInt8] {
        try SmallFile(named: file, limit: sizeLimit).bytes
    }
}
