// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A plugin that was found and looks usable, from its file alone, without running it.
package final class PluginCandidate: Sendable {
    /// The manifest.
    package let manifest: Manifest
    /// The image's file; for a foreign library that the dynamic linker finds, its name.
    package let path: String
    /// The path of the sidecar; nil if there is none.
    package let sidecar: String?
    /// How to load the image.
    package let image: Image
    /// The manifest's text in the image when it was examined; nil if only the sidecar has one.
    package let embeddedText: [UInt8]?
    /// The libraries that the image named when it was examined; nil if finding out would have meant reading a large
    /// file.
    package let neededLibraries: [String]?

    /// Creates a candidate from an examination.
    package init(
        manifest: Manifest,
        path: String,
        sidecar: String?,
        image: Image,
        embeddedText: [UInt8]?,
        neededLibraries: [String]? = nil
    ) {
        self.manifest = manifest
        self.path = path
        self.sidecar = sidecar
        self.image = image
        self.embeddedText = embeddedText
        self.neededLibraries = neededLibraries
    }

    /// The plugin's id and version, for messages.
    package var name: String { "\(manifest.id) \(manifest.version)" }

    /// How an image is loaded.
    package enum Image: Sendable {
        /// A file, whose bytes are checked and sealed.
        case file
        /// A library that the dynamic linker loads by its name.
        case library(String)
    }

    /// Whether an image still has the manifest by which this candidate was selected.
    package func isDescribed(by image: some ManifestCarrier) -> Bool {
        let texts = image.manifestTexts()
        guard let embeddedText else { return texts.isEmpty }
        return !texts.isEmpty && texts.allSatisfy { $0 == embeddedText }
    }
}
