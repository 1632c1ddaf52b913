// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest
package import ConnectorManifest
internal import ConnectorPlatform

extension LockedPlugin {
    /// Describes the files of a plugin as they are now, for a lock. Runs no code, and blocks while it reads them.
    ///
    /// - Returns: Nil for a plugin that the application links, which has no file.
    /// - Throws: The reason that a file cannot be read.
    package init?(of candidate: PluginCandidate) throws(ConnectorError) {
        let sidecar = try candidate.sidecarDigest()
        switch candidate.image {
        case .linked: return nil
        case .library:
            // The library itself is the system's, whose updates do not change the plugin.
            guard let path = candidate.sidecar, let sidecar else { return nil }
            let bytes = try ImageBytes(path: path, limit: Manifest.sizeLimit)
            self.init(
                candidate.manifest,
                platform: Self.hostPlatform,
                size: bytes.count,
                sha256: sidecar,
                sidecar: nil,
                dependencies: []
            )
        case .file:
            let bytes = try ImageBytes(path: candidate.path)
            let digest = try bytes.sha256()
            let image = try PluginImage(bytes)
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
            self.init(
                candidate.manifest,
                platform: Self.hostPlatform,
                size: bytes.count,
                sha256: digest.description,
                sidecar: sidecar,
                dependencies: try Self.dependencies(of: image)
            )
        }
    }

    /// Describes an inspected image.
    ///
    /// - Returns: Nil if the inspection found no manifest or could not read the file.
    package init?(_ inspection: PluginInspection) {
        guard let manifest = inspection.manifest, let size = inspection.size, let sha256 = inspection.sha256 else {
            return nil
        }
        let image = try? PluginImage(ImageBytes(path: inspection.path))
        self.init(
            manifest,
            platform: inspection.architecture ?? Self.hostPlatform,
            size: size,
            sha256: sha256,
            sidecar: nil,
            dependencies: (try? image.map(Self.dependencies(of:))) ?? []
        )
    }

    /// The libraries that an image brings along, by their bytes.
    private static func dependencies(of image: PluginImage) throws(ConnectorError) -> Set<Dependency> {
        var dependencies: Set<Dependency> = []
        for library in image.librariesBeside { dependencies.insert(try Dependency(library)) }
        return dependencies
    }
}

extension PluginImage {
    /// The libraries that the image brings along beside it, which are copied and loaded with it, here or in another
    /// process.
    var librariesBeside: [ImageBytes] {
        #if os(Linux)
            guard let dynamic = DynamicSection(self) else { return [] }
            var members = DependencyClosure(of: self, dynamic).members.filter(\.isRelativeToOrigin)
            // Another process does not have the libraries that this one has loaded.
            if NewDependencies.mayHaveLibrariesBeside(self, dynamic) {
                let known = Set(members.map(\.path))
                let beside = DependencyClosure(of: self, dynamic, elsewhere: true).beside
                members += beside.filter { !known.contains($0.path) }
            }
            return members.compactMap { $0.contents?.image.bytes }
        #else
            return []
        #endif
    }
}

extension LockedPlugin.Dependency {
    /// Describes the bytes of a library.
    init(_ bytes: ImageBytes) throws(ConnectorError) {
        self.init(name: bytes.path.lastPathComponent, sha256: try bytes.sha256().description)
    }
}

extension PluginCandidate {
    /// The bytes of the sidecar that the manifest was read from; nil if the image carries the manifest.
    ///
    /// - Throws: `load-failed` if the sidecar no longer says what the host has read, or the reason that it cannot be read.
    package func sidecarBytes() throws(ConnectorError) -> ImageBytes? {
        guard embeddedText == nil, let sidecar else { return nil }
        let bytes = try ImageBytes(path: sidecar, limit: Manifest.sizeLimit)
        guard let text = bytes.copy(at: 0, count: bytes.count),
            Manifest.read(text, file: sidecar).manifest == manifest
        else { throw Preflight.changed(sidecar) }
        return bytes
    }

    /// The SHA-256 of the sidecar that the manifest was read from; nil if the image carries the manifest.
    func sidecarDigest() throws(ConnectorError) -> String? {
        try sidecarBytes()?.sha256().description
    }
}
