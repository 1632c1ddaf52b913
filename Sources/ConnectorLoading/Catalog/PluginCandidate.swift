// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A plugin that was found and looks usable, judged by its file without running it.
package final class PluginCandidate: Sendable {
    /// The manifest.
    package let manifest: Manifest
    /// The image's file; a foreign library's name if the dynamic linker is to find it.
    package let path: String
    /// The sidecar, if it has one.
    package let sidecar: String?
    /// What is to be loaded.
    package let image: Image
    /// The manifest's text in the image when it was examined; nil if only the sidecar has one.
    package let embeddedText: [UInt8]?
    /// The libraries that the image named when it was examined; nil if that would have taken to read a large file.
    package let neededLibraries: [String]?

    /// Makes a candidate of what was examined.
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

    /// The plugin's id and version, for people.
    package var name: String { "\(manifest.id) \(manifest.version)" }

    /// What is to be loaded.
    package enum Image: Sendable {
        /// A file, whose bytes are checked and sealed.
        case file
        /// A library that the dynamic linker loads by its name.
        case library(String)
    }

    /// Whether an image still carries the manifest that selected this candidate.
    package func isDescribed(by image: some ManifestCarrier) -> Bool {
        let texts = image.manifestTexts()
        guard let embeddedText else { return texts.isEmpty }
        return !texts.isEmpty && texts.allSatisfy { $0 == embeddedText }
    }
}
