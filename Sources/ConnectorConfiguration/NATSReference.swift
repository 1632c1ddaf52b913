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
    /// Where relative paths start.
    var base: BaseDirectory
    /// The variables that `env:NAME` reads.
    var environment: Configuration.Environment

    /// Everything, with the secrets, which are read again each time.
    ///
    /// - Parameter redactor: Takes the secrets out of the servers' texts from now on.
    /// - Throws: `missing-variable` or `secret-unavailable`, also for a file of credentials that other users can read.
    package func resolved(hidingIn redactor: Redactor = Redactor()) throws(ConnectorError) -> NATSOptions {
        var options = self.options
        var secrets: [Secret] = []
        if let token = try token?.secret(base: base, environment: environment) {
            options.token = token.reveal()
            secrets.append(token)
        }
        if let password = try password?.secret(base: base, environment: environment) {
            options.password = password.reveal()
            secrets.append(password)
        }
        if let path = options.credentials { secrets += try Self.secrets(inCredentials: path) }
        // Before the connection is made, whose errors may quote them.
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
