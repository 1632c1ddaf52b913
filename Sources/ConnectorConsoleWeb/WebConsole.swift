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
/// It listens on the loopback interface until the task is cancelled. The link that it announces lets one browser in;
/// it announces another one as soon as that is used.
public enum WebConsole {
    /// How the console is served, and to whom.
    public struct Options: Sendable {
        /// Where it listens.
        public var address = Address.loopback
        /// Other names that browsers may ask for it by, such as `console.example.org`.
        public var names: [String] = []
        /// The certificate of an address that is not loopback.
        public var certificate: Certificate?
        /// A token that lets any number of browsers and programs see and act; nil for none.
        public var token: Secret?
        /// A token that lets them see alone; nil for none.
        public var readToken: Secret?
        /// Whether every client may only look.
        public var isReadOnly = false
        /// What is shown first.
        public var route = Route.gates
        /// What can be shown.
        public var registry = ConsoleRegistry.standard
        /// How it looks.
        public var styles = StyleSheet.standard
        /// What the console is called in its pages.
        public var title = "connector-host"

        /// The standard console, on any free port of the loopback interface.
        public init() {}
    }

    /// A certificate and its key, in PEM files.
    public struct Certificate: Sendable, Hashable {
        /// The file of the certificate, those of its issuers after it.
        public var file: String
        /// The file of its private key.
        public var key: String

        /// Names the files.
        public init(file: String, key: String) {
            self.file = file
            self.key = key
        }
    }
}
