// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A file in a plugin directory, usable or not.
package struct PluginEntry: Sendable {
    /// The image; the sidecar if there is no image for it.
    package let path: String
    /// The sidecar, if there is one.
    package let sidecar: String?
    /// What it says of itself, as far as it could be read; also of a plugin that is not usable.
    package let manifest: Manifest?
    /// Why it is not usable: the first thing that is wrong; nil if it can be loaded as far as the catalog looks.
    package let error: ConnectorError?
    /// What to load; nil if it is not usable.
    package let candidate: PluginCandidate?

    private init(path: String, sidecar: String?, manifest: Manifest?, error: ConnectorError) {
        self.path = path
        self.sidecar = sidecar
        self.manifest = manifest
        self.error = error
        candidate = nil
    }

    private init(_ candidate: PluginCandidate) {
        path = candidate.path
        sidecar = candidate.sidecar
        manifest = candidate.manifest
        error = nil
        self.candidate = candidate
    }
}

extension PluginEntry {
    /// Examines an image and the sidecar beside it.
    init(image path: String, sidecar: String?) {
        do throws(ConnectorError) {
            let image = try ELFImage(ImageBytes(path: path))
            try Preflight.checkKind(image)
            let reading = ManifestReading(of: image, sidecar: sidecar)
            guard let manifest = reading.manifest, reading.problems.isEmpty else {
                let error =
                    reading.problems.first ?? ConnectorError(.invalidManifest, "the manifest of \(path) cannot be read")
                self.init(path: path, sidecar: sidecar, manifest: reading.manifest, error: error)
                return
            }
            if let problem = Preflight.abiProblem(manifest, path: path) {
                self.init(path: path, sidecar: sidecar, manifest: manifest, error: problem)
                return
            }
            self.init(
                PluginCandidate(
                    manifest: manifest,
                    path: path,
                    sidecar: sidecar,
                    image: .file,
                    embeddedText: reading.embeddedText
                )
            )
        } catch {
            let manifest = sidecar.flatMap { ManifestReading.readSidecar($0).manifest }
            self.init(path: path, sidecar: sidecar, manifest: manifest, error: error)
        }
    }

    /// Examines a sidecar that has no image beside it: it names a foreign library, or something that is not built yet.
    init(sidecar: String) {
        let (manifest, problems) = ManifestReading.readSidecar(sidecar)
        guard let manifest, problems.isEmpty else {
            let error = problems.first ?? ConnectorError(.invalidManifest, "\(sidecar) cannot be read")
            self.init(path: sidecar, sidecar: sidecar, manifest: manifest, error: error)
            return
        }
        if let problem = Preflight.abiProblem(manifest, path: sidecar) {
            self.init(path: sidecar, sidecar: sidecar, manifest: manifest, error: problem)
        } else if let library = manifest.library, library.contains("/") {
            let path = library.hasPrefix("/") ? library : "\(sidecar.parentPath)/\(library)"
            self.init(image: path, sidecar: sidecar)
        } else if let library = manifest.library {
            self.init(
                PluginCandidate(
                    manifest: manifest,
                    path: library,
                    sidecar: sidecar,
                    image: .library(library),
                    embeddedText: nil
                )
            )
        } else {
            self.init(path: sidecar, sidecar: sidecar, manifest: manifest, error: Self.notBuilt(sidecar))
        }
    }

    private static func notBuilt(_ sidecar: String) -> ConnectorError {
        let names = DirectoryListing.imageNames(forSidecar: sidecar.lastPathComponent)
        return ConnectorError(
            .notFound,
            "\(sidecar) describes a plugin, but its image is not beside it (\(names.joined(separator: " or ")))",
            fix: "build the plugin, or name an existing \"library\" in the sidecar"
        )
    }
}
