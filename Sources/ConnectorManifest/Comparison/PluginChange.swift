// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One difference between two images of a plugin.
package struct PluginChange: Sendable, Hashable {
    /// What the change means for those who use the plugin.
    package var effect: Effect
    /// What has changed.
    package var subject: Subject
    /// The name of the host, service, operation or field.
    package var name: String
    /// The old state; nil if it is new.
    package var from: String?
    /// The new state; nil if it is gone.
    package var to: String?

    /// What a change means.
    package enum Effect: String, Sendable, Hashable, CaseIterable {
        /// Callers or files that worked with the first image do not work with the second.
        case breaks
        /// The second image wants something that the first one did not.
        case wants
        /// Nothing needs to be done.
        case none
    }

    /// What can change; the raw value is the word in JSON.
    package enum Subject: String, Sendable, Hashable, CaseIterable {
        /// The id, the version, the size and the digest of the image.
        case id, version, size, digest
        /// The versions of the ABI, and the thread class.
        case abi, thread
        /// A capability as a whole, and one of its operations.
        case capability, operation
        /// A field of the configuration.
        case field
        /// A host service, a network host, a gate that the plugin uses, and a library that ships beside it.
        case service, host, uses, library
    }

    /// Creates a change.
    package init(_ effect: Effect, _ subject: Subject, _ name: String, from: String? = nil, to: String? = nil) {
        self.effect = effect
        self.subject = subject
        self.name = name
        self.from = from
        self.to = to
    }
}
