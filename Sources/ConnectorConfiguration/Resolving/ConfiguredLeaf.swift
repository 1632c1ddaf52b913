// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The configuration of an enabled leaf as shown to an operator, without the values of secrets.
package struct ConfiguredLeaf: Sendable, Hashable {
    /// The leaf's path.
    package var path: String
    /// Whether any operation of the plugin sends events through the outbox; nil if the plugin's manifest is unknown.
    package var sendsEvents: Bool?
    /// The timeout of one attempt to open.
    package var timeout: Duration
    /// How often the open gate is probed; nil for never. Simulations probe gates more often than configured.
    package var probeInterval: Duration?
    /// The fields that have a value: those in the file, then the plugin's defaults.
    package var fields: [ConfiguredField]

    /// Creates the description of a leaf.
    package init(
        path: String,
        sendsEvents: Bool?,
        timeout: Duration = .seconds(10),
        probeInterval: Duration? = nil,
        fields: [ConfiguredField]
    ) {
        self.path = path
        self.sendsEvents = sendsEvents
        self.timeout = timeout
        self.probeInterval = probeInterval
        self.fields = fields
    }
}

/// One field of a leaf's `config`, and the source of its value.
package struct ConfiguredField: Sendable, Hashable {
    /// The key in `config`.
    package var name: String
    /// The value, as far as it may be shown.
    package var value: Value
    /// The source of the value.
    package var source: Source
    /// The value's position in the file; nil for a default, and for a configuration without a file.
    package var position: FilePosition?

    /// Creates the description of a field.
    package init(name: String, value: Value, source: Source, position: FilePosition? = nil) {
        self.name = name
        self.value = value
        self.source = source
        self.position = position
    }

    /// A value, as far as it may be shown.
    package enum Value: Sendable, Hashable {
        /// A string as is, anything else as JSON; truncated, and without the user part of URLs.
        case shown(String)
        /// A secret, by its reference in the file, such as `env:NAME` or `file:PATH`; nil if the file or a default contains the secret.
        case secret(reference: String?)
        /// A hidden value: without the plugin's manifest, it might be a secret.
        case unknown
        /// A value that is hidden from readers who may not act.
        case withheld
    }

    /// The source of a value.
    package enum Source: Sendable, Hashable {
        /// Written in the file.
        case file
        /// These environment variables, at least in part.
        case environment([String])
        /// The default in the file for these environment variables, which are unset or empty.
        case fallback(for: [String])
        /// A file that contains a secret.
        case secretFile
        /// A command that prints a secret.
        case command
        /// The default in the plugin's manifest.
        case manifest
        /// The simulator that replaces the server named in the file.
        case simulator
    }
}
