// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorManifest
internal import ConnectorPlatform

/// A file in a plugin directory, usable or not.
package struct PluginEntry: Sendable {
    private let content: Content

    /// An unusable entry is boxed, so that entries are cheap to move.
    private enum Content {
        case usable(PluginCandidate)
        indirect case unusable(path: String, sidecar: String?, manifest: Manifest?, errors: [ConnectorError])
    }

    private init(path: String, sidecar: String?, manifest: Manifest?, errors: [ConnectorError]) {
        content = .unusable(path: path, sidecar: sidecar, manifest: manifest, errors: errors)
    }

    private init(_ candidate: PluginCandidate) {
        content = .usable(candidate)
    }

    /// The image; the sidecar if there is no image for it.
    package var path: String {
        switch content {
        case .usable(let candidate): candidate.path
        case .unusable(let path, _, _, _): path
        }
    }

    /// The sidecar, if there is one.
    package var sidecar: String? {
        switch content {
        case .usable(let candidate): candidate.sidecar
        case .unusable(_, let sidecar, _, _): sidecar
        }
    }

    /// The manifest as far as it could be read, even of an unusable plugin.
    package var manifest: Manifest? {
        switch content {
        case .usable(let candidate): candidate.manifest
        case .unusable(_, _, let manifest, _): manifest
        }
    }

    /// Every reason that the plugin is unusable; empty if there is none.
    package var errors: [ConnectorError] {
        if case .unusable(_, _, _, let errors) = content { errors } else { [] }
    }

    /// The first reason that the plugin is unusable; nil if there is none.
    package var error: ConnectorError? { errors.first }

    /// The candidate to load; nil if the plugin is unusable.
    package var candidate: PluginCandidate? {
        if case .usable(let candidate) = content { candidate } else { nil }
    }

    /// The candidate to load.
    ///
    /// - Throws: The reason that the plugin is unusable.
    package func usable(at path: String) throws(ConnectorError) -> PluginCandidate {
        if let candidate { return candidate }
        throw error ?? ConnectorError(.notFound, "there is no file \(path)")
    }

    /// Whether this is a valid sidecar whose image does not exist.
    package var isNotBuilt: Bool { error?.code == .notFound && path == sidecar }

    /// The id in the manifest.
    package var id: String? {
        switch content {
        case .usable(let candidate): candidate.manifest.id
        case .unusable(_, _, let manifest, _): manifest?.id
        }
    }
}

extension PluginEntry {
    /// Whether this describes a usable image as it is now, and no sidecar is or was beside it.
    package func isCurrent(sidecar: String?) -> Bool {
        guard let candidate, candidate.sidecar == nil, sidecar == nil, case .file = candidate.image,
            let stamp = candidate.stamp
        else { return false }
        return FileStamp(path: candidate.path) == stamp
    }

    /// Examines an image and the sidecar beside it.
    package init(image path: String, sidecar: String?) {
        do throws(ConnectorError) {
            let image = try PluginImage(ImageBytes(named: path))
            try image.checkKind()
            let reading = ManifestReading(of: image, sidecar: sidecar)
            guard let manifest = reading.manifest, reading.problems.isEmpty else {
                let unread = [ConnectorError(.invalidManifest, "the manifest of \(path) cannot be read")]
                let errors = reading.problems.isEmpty ? unread : reading.problems
                self.init(path: path, sidecar: sidecar, manifest: reading.manifest, errors: errors)
                return
            }
            if let problem = Preflight.abiProblem(manifest, path: path) {
                self.init(path: path, sidecar: sidecar, manifest: manifest, errors: [problem])
                return
            }
            self.init(
                PluginCandidate(
                    manifest: manifest,
                    path: path,
                    sidecar: sidecar,
                    image: .file,
                    embeddedText: reading.embeddedText,
                    neededLibraries: image.bytes.isWhole ? image.neededNames : nil,
                    stamp: image.bytes.stamp,
                    isDirect: FileStamp(itself: path) == image.bytes.stamp
                )
            )
        } catch {
            let manifest = sidecar.flatMap { ManifestReading.readSidecar($0).manifest }
            self.init(path: path, sidecar: sidecar, manifest: manifest, errors: [error])
        }
    }

    /// Examines a sidecar that has no image beside it: it names a foreign library, or its plugin is not built yet.
    package init(sidecar: String) {
        let (manifest, problems) = ManifestReading.readSidecar(sidecar)
        guard let manifest, problems.isEmpty else {
            let unread = [ConnectorError(.invalidManifest, "\(sidecar) cannot be read")]
            let errors = problems.isEmpty ? unread : problems
            self.init(path: sidecar, sidecar: sidecar, manifest: manifest, errors: errors)
            return
        }
        if let problem = Preflight.abiProblem(manifest, path: sidecar) {
            self.init(path: sidecar, sidecar: sidecar, manifest: manifest, errors: [problem])
        } else if let library = manifest.library, let file = ManifestReading.file(ofLibrary: library, sidecar: sidecar)
        {
            self.init(image: file, sidecar: sidecar)
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
            self.init(path: sidecar, sidecar: sidecar, manifest: manifest, errors: [Self.notBuilt(sidecar)])
        }
    }

    /// The entry of a file that cannot be named, and so not be loaded.
    ///
    /// - Parameter path: Its path with the name repaired.
    init(misnamed path: String) {
        self.init(
            path: path,
            sidecar: nil,
            manifest: nil,
            errors: [ConnectorError(.unreadable, "the name of \(path) is not UTF-8", fix: "rename it")]
        )
    }

    private static func notBuilt(_ sidecar: String) -> ConnectorError {
        let names = DirectoryListing.imageNames(forSidecar: sidecar.lastPathComponent)
        return ConnectorError(
            .notFound,
            "\(sidecar) describes a plugin, but its image is not beside it (\(names.joined(separator: " or ")))",
            fix: "build the plugin, or name an existing \"library\" in the sidecar; until then, simulate it: "
                + "\"simulate\": FILE with \"operations\", and --simulate"
        )
    }
}
