// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorServices

extension WebConsole.Options {
    /// Checks that these options let no one in by mistake.
    ///
    /// - Throws: `invalid-value` for an address that others reach without a certificate, a token or a name, and for a
    ///   token that is too short.
    package func check() throws(ConnectorError) {
        for token in [token, readToken].compactMap(\.self)
        where token.reveal().utf8.count < Keys.shortestToken {
            throw ConnectorError(.invalidValue, "a token of the console has at least \(Keys.shortestToken) characters")
        }
        guard !address.isLoopback else { return }
        guard certificate != nil, token != nil || readToken != nil else {
            throw ConnectorError(
                .invalidValue,
                "the console listens on \(address.host), which others reach, only with TLS and a token",
                fix: "give it a certificate, its key, and a token from a secret; or listen on 127.0.0.1"
            )
        }
        guard !address.isAny || !names.isEmpty else {
            throw ConnectorError(
                .invalidValue,
                "the console listens on every address, and does not know what browsers call it",
                fix: "give it the name that its URL has"
            )
        }
    }
}
