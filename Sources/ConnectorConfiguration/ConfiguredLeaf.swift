// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The configuration of an enabled leaf as an operator sees it, without the values of secrets.
package struct ConfiguredLeaf: Sendable, Hashable {
    /// The leaf.
    package var path: String
    /// Whether any operation of the plugin sends events through the outbox; nil if the plugin's manifest is not known.
    package var sendsEvents: Bool?
    /// The longest that one attempt to open may take.
    package var timeout: Duration
    /// How often the open gate is proved; nil for never. Simulations prove gates more often than the file says.
    package var probeInterval: Duration?
    /// The fields with a value, those of the file first, then the plugin's defaults.
    package var fields: [ConfiguredField]

    /// Stores its arguments.
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

/// One field of a leaf's `config`, and where its value came from.
package struct ConfiguredField: Sendable, Hashable {
    /// The key in `config`.
    package var name: String
    /// What may be shown of the value.
    package var value: Value
    /// Where the value came from.
    package var source: Source
    /// The value's position in the file; nil for a plugin's default, and without a file.
    package var position: FilePosition?

    /// Stores its arguments.
    package init(name: String, value: Value, source: Source, position: FilePosition? = nil) {
        self.name = name
        self.value = value
        self.source = source
        self.position = position
    }

    /// What may be shown of a value.
    package enum Value: Sendable, Hashable {
        /// The value itself: a string as it is, anything else as JSON. Bounded, and without users in URLs.
        case shown(String)
        /// A secret, by what the file refers to: `env:NAME`, `file:PATH`; nil if the file or a default holds the secret.
        case secret(reference: String?)
        /// A value that is not shown, since the plugin's manifest, which would mark it as secret, is not known.
        case unknown
    }

    /// Where a value came from.
    package enum Source: Sendable, Hashable {
        /// Written in the file.
        case file
        /// At least partly from these environment variables.
        case environment([String])
        /// The default in the file, in place of these environment variables, which are unset or empty.
        case fallback(for: [String])
        /// A secret's file.
        case secretFile
        /// The default in the plugin's manifest.
        case manifest
        /// A simulator, which takes the place of the server that the file names.
        case simulator
    }
}
