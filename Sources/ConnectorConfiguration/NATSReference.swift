// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorServices

/// The NATS servers of an outbox as a configuration names them, with secrets that are not read yet.
package struct NATSReference: Sendable {
    /// What is known without the secrets.
    var options: NATSOptions
    /// Where the token is.
    var token: SecretReference?
    /// Where the password of the user is.
    var password: SecretReference?
    /// The variables that `env:NAME` reads.
    var environment: Configuration.Environment

    /// The options with their secrets, which each call reads again.
    ///
    /// - Parameter redactor: Takes the secrets out of the servers' texts from now on.
    /// - Throws: `missing-variable` or `secret-unavailable`, also for a file of credentials that other users can read.
    package func resolved(hidingIn redactor: Redactor = Redactor()) throws(ConnectorError) -> NATSOptions {
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
        if let path = options.credentials { secrets += try Self.secrets(inCredentials: path) }
        // Hidden before the connection is made, because its errors may quote them.
        redactor.add(secrets)
        return options
    }

    /// The JWT and the seed in a file of credentials as nsc writes it, and the file as a whole.
    private static func secrets(inCredentials path: String) throws(ConnectorError) -> [Secret] {
        let text = try SecretReference.read(path, "the credentials' file").reveal()
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        return lines.filter { $0.utf8.count >= 16 && !$0.hasPrefix("-") && !$0.hasPrefix("*") }.map { Secret($0) }
    }
}
