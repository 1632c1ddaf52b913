// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorManifest
internal import ConnectorPlatform

/// The manifest of an image: from its note, from the sidecar beside it, or from both if they agree.
package struct ManifestReading {
    /// The manifest as far as it could be read, even if it is not usable.
    private(set) var manifest: Manifest?
    /// The text in the image, by which a later change of the file is detected.
    private(set) var embeddedText: [UInt8]?
    /// Every problem of the manifest.
    private(set) var problems: [ConnectorError] = []

    /// Reads the manifest of an image.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - sidecar: The sidecar's path, if there is one.
    package init(of image: some ManifestCarrier, sidecar: String?) {
        let path = image.bytes.path
        let texts = image.manifestTexts()
        var embedded: Manifest?
        if let text = texts.first {
            embeddedText = text
            let read = Manifest.read(text, file: path)
            embedded = read.manifest
            problems = Self.inSource(read.problems, text, image)
            if texts.count > 1 { problems.append(Self.several(texts, path)) }
        }
        guard let sidecar else {
            manifest = embedded
            if texts.isEmpty { problems.append(Self.none(path)) }
            return
        }
        let beside = Self.readSidecar(sidecar)
        problems += beside.problems
        manifest = embedded ?? beside.manifest
        if let beside = beside.manifest, let problem = Self.otherLibrary(beside, sidecar, image) {
            problems.append(problem)
        }
        if let embedded, let beside = beside.manifest, let difference = Self.difference(embedded, beside) {
            problems.append(
                ConnectorError(
                    .manifestMismatch,
                    "the manifest in \(path) and \(sidecar) differ in \(difference)",
                    fix: "build the plugin again, or remove the sidecar: an image with a manifest needs none"
                )
            )
        }
    }

    /// The file of the library that a sidecar names by a path; nil if it names one for the dynamic linker to find.
    static func file(ofLibrary library: String, sidecar: String) -> String? {
        guard library.contains(ascii: "/") else { return nil }
        return library.starts(ascii: "/") ? library : "\(sidecar.parentPath)/\(library)"
    }

    /// The problem of a sidecar whose name stands for the image beside it, and whose `library` for another one.
    ///
    /// An image that is to replace the sidecar's library, as in a swap, is elsewhere or has another name.
    private static func otherLibrary(
        _ manifest: Manifest,
        _ sidecar: String,
        _ image: some ManifestCarrier
    ) -> ConnectorError? {
        let path = image.bytes.path
        guard let library = manifest.library, path.parentPath == sidecar.parentPath,
            DirectoryListing.imageNames(forSidecar: sidecar.lastPathComponent).contains(path.lastPathComponent)
        else { return nil }
        if let file = file(ofLibrary: library, sidecar: sidecar) {
            if FileStamp(path: file)?.file == image.bytes.stamp.file { return nil }
        } else if library == path.lastPathComponent || library == image.libraryName {
            return nil
        }
        let place = JSONPath().appending("library")
        return ConnectorError(
            .manifestMismatch,
            "the library is \(library.excerpt), but \(path) is beside the sidecar, and is another file",
            fix: "give the sidecar another name, or, if \(path.lastPathComponent) is meant, write \"library\": "
                + "\"./\(path.lastPathComponent)\"",
            position: text(of: sidecar).map { JSONLocator.position(of: place, in: $0, file: sidecar) }
        )
    }

    /// The problems of an embedded manifest, with their positions in the source of `CONNECTOR_MANIFEST` if it can be found.
    private static func inSource(
        _ problems: [ConnectorError],
        _ text: [UInt8],
        _ image: some ManifestCarrier
    ) -> [ConnectorError] {
        guard problems.contains(where: { $0.position != nil }), let image = image as? ELFImage,
            let source = ManifestSource(of: text, in: image)
        else { return problems }
        return problems.map { problem in
            var problem = problem
            problem.position = problem.position.map { source.position(of: $0) ?? $0 }
            return problem
        }
    }

    /// Reads a sidecar.
    package static func readSidecar(_ path: String) -> (manifest: Manifest?, problems: [ConnectorError]) {
        do throws(ConnectorError) {
            let bytes = try ImageBytes(named: path, limit: Manifest.sizeLimit)
            guard let text = bytes.copy(at: 0, count: bytes.count) else { return (nil, [Preflight.changed(path)]) }
            return Manifest.read(text, file: path)
        } catch {
            return (nil, [error])
        }
    }

    /// The text of a sidecar; nil if it cannot be read.
    package static func text(of sidecar: String) -> [UInt8]? {
        guard let bytes = try? ImageBytes(path: sidecar, limit: Manifest.sizeLimit) else { return nil }
        return bytes.copy(at: 0, count: bytes.count)
    }

    /// The keys that say nothing about what the plugin does. Tools may leave them out of an image or a sidecar; `library` is only where
    /// a sidecar finds its image.
    private static let descriptions: Set = ["documentation", "language", "library", "swiftType"]

    /// The keys in which two manifests of one plugin differ, apart from ``descriptions``; nil if there are none.
    private static func difference(_ image: Manifest, _ sidecar: Manifest) -> String? {
        let keys = image.keys(differingFrom: sidecar).filter { !descriptions.contains($0) }.map { key in
            switch key {
            case "id": "id (\(image.id), \(sidecar.id))"
            case "version": "version (\(image.version), \(sidecar.version))"
            default: key
            }
        }
        return keys.isEmpty ? nil : keys.joined(separator: ", ")
    }

    static func none(_ path: String) -> ConnectorError {
        ConnectorError(
            .noManifest,
            "\(path) carries no manifest and has none beside it",
            fix: path.hasSuffix(DirectoryListing.imageEnding)
                ? "embed one with CONNECTOR_MANIFEST, or write \(path.pluginStem).connector.json beside it"
                : "write \(path.pluginStem).connector.json that names it as its \"library\""
        )
    }

    private static func several(_ texts: [[UInt8]], _ path: String) -> ConnectorError {
        let names = texts.map { text in
            Manifest.read(text, file: path).manifest.map { "\($0.id) \($0.version)" } ?? "one that cannot be read"
        }
        return ConnectorError(
            .invalidManifest,
            "\(path) carries several manifests: \(names.joined(separator: " and "))",
            fix: "link one plugin into one image, with one CONNECTOR_MANIFEST"
        )
    }
}
