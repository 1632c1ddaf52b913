// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorPlatform

/// A plugin that was found and looks usable, without running any of its code.
package final class PluginCandidate: Sendable {
    /// The manifest.
    package let manifest: Manifest
    /// The image's file; for a foreign library that the dynamic linker finds, its name; for a linked plugin, a description.
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
    /// The stamp of the image's file when it was examined; nil if the image is not a file.
    package let stamp: FileStamp?
    /// Whether the path is that of the file itself, not of a symbolic link.
    package let isDirect: Bool

    /// Creates a candidate from an examination.
    package init(
        manifest: Manifest,
        path: String,
        sidecar: String?,
        image: Image,
        embeddedText: [UInt8]?,
        neededLibraries: [String]? = nil,
        stamp: FileStamp? = nil,
        isDirect: Bool = false
    ) {
        self.manifest = manifest
        self.path = path
        self.sidecar = sidecar
        self.image = image
        self.embeddedText = embeddedText
        self.neededLibraries = neededLibraries
        self.stamp = stamp
        self.isDirect = isDirect
    }

    /// Creates a candidate from a plugin that the application links.
    ///
    /// - Throws: `invalid-manifest` or `unsupported-abi`.
    package convenience init(_ linked: LinkedPlugin) throws(ConnectorError) {
        let (manifest, problems) = Manifest.read(linked.manifest, file: "the manifest of a linked plugin")
        guard let manifest, problems.isEmpty else {
            throw problems.first ?? ConnectorError(.invalidManifest, "the manifest of a linked plugin cannot be read")
        }
        let path = "\(manifest.id), linked into the application,"
        if let problem = Preflight.abiProblem(manifest, path: path) { throw problem }
        self.init(manifest: manifest, path: path, sidecar: nil, image: .linked(linked), embeddedText: linked.manifest)
    }

    /// The path for a process in another directory; the name of a foreign library or of a linked plugin as it is.
    package var absolutePath: String {
        if case .file = image { path.absolutePath } else { path }
    }

    /// Whether the application links the plugin.
    package var isLinked: Bool {
        if case .linked = image { true } else { false }
    }

    /// The plugin's id and version, for messages.
    package var name: String { "\(manifest.id) \(manifest.version)" }

    /// How an image is loaded.
    package enum Image: Sendable {
        /// A file, whose bytes are checked and sealed.
        case file
        /// A library that the dynamic linker loads by its name.
        case library(String)
        /// Functions linked into the application: there is no image to load.
        case linked(LinkedPlugin)
    }

    /// Whether an image still has the manifest by which this candidate was selected.
    package func isDescribed(by image: some ManifestCarrier) -> Bool {
        let texts = image.manifestTexts()
        guard let embeddedText else { return texts.isEmpty }
        return !texts.isEmpty && texts.allSatisfy { $0 == embeddedText }
    }
}
