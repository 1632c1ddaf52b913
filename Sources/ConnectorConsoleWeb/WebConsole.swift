// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole
public import ConnectorServices

/// The console of a host in a browser.
///
/// ```swift
/// try await WebConsole.run(host) { link in print("console:", link) }
/// ```
///
/// By default it listens on the loopback interface. It serves until the task is cancelled, or the service group that runs it shuts
/// down gracefully. The announced link admits one browser; once it has been used, a new one is announced.
public enum WebConsole {
    /// The settings of the console and its server.
    public struct Options: Sendable {
        /// The address to listen on.
        public var address = Address.loopback
        /// Further host names that requests may use, with any port, such as `console.example.org`. Names have no port themselves.
        public var names: [String] = []
        /// The certificate; required for any address other than loopback.
        public var certificate: Certificate?
        /// A token that admits any number of browsers and programs to read and act, at least 16 bytes; nil for none.
        public var token: Secret?
        /// A token that admits any number of browsers and programs to read only, at least 16 bytes; nil for none.
        public var readToken: Secret?
        /// Whether every client is read-only.
        public var isReadOnly = false
        /// The first route.
        public var route = Route.gates
        /// The scenes and components.
        public var registry = ConsoleRegistry.standard
        /// The styles.
        public var styles = StyleSheet.standard
        /// The title of the console in its pages.
        public var title = "connector-host"

        /// Creates the settings of the standard console, on any free port of the loopback interface.
        public init() {}
    }

    /// A certificate and its key, in PEM files.
    public struct Certificate: Sendable, Hashable {
        /// The file with the certificate, followed by the certificates of its issuers.
        public var file: String
        /// The file with its unencrypted private key.
        public var key: String

        /// Creates a certificate from its files.
        public init(file: String, key: String) {
            self.file = file
            self.key = key
        }
    }
}
