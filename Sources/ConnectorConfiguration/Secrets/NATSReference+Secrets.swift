// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox
package import ConnectorServices

extension NATSReference {
    /// Resolves the options; each call rereads the secrets.
    ///
    /// - Parameter redactor: Redacts the secrets from the servers' messages from now on.
    /// - Throws: `missing-variable`; `secret-unavailable`, also for a file of credentials or with a key that other users can access.
    package func resolved(hidingIn redactor: Redactor = Redactor()) throws(ConnectorError) -> NATSSettings {
        var options = self.options
        var secrets: [Secret] = []
        if let token = try token?.secret(environment: environment) {
            options.token = token.reveal()
            secrets.append(token)
        }
        if let password = try password?.secret(environment: environment) {
            options.password = password.reveal()
            secrets.append(password)
        }
        if let path = options.credentials {
            secrets += Self.secrets(in: try SecretReference.read(path, "the credentials file").reveal())
        }
        if let path = options.key {
            let key = try SecretReference.read(path, "the key's file").reveal()
            // The client library would ask for the passphrase on the terminal.
            guard !key.contains("ENCRYPTED") else {
                throw ConnectorError(
                    .secretUnavailable,
                    "the key in \(path.withGivenPaths.excerpt) is encrypted, and there is no way to enter its passphrase",
                    fix: "decrypt it: openssl pkey -in \(path.withGivenPaths.excerpt) -out FILE, and chmod 600 FILE"
                )
            }
            secrets += Self.secrets(in: key)
        }
        // Redact before connecting, because connection errors may quote the secrets.
        redactor.add(secrets)
        return options
    }

    /// The JWT and the seed in a file of credentials, as nsc writes it, or the lines of a key.
    private static func secrets(in text: String) -> [Secret] {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        return lines.filter { $0.utf8.count >= 16 && !$0.hasPrefix("-") && !$0.hasPrefix("*") }.map { Secret($0) }
    }
}
