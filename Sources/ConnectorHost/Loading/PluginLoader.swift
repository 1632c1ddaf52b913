// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// Loads plugins: checks a file, seals the bytes that it checked, and hands those to the dynamic linker.
///
/// Blocks, for it reads files and runs the constructors of images: call it off the cooperative pool. From any thread.
package struct PluginLoader: Sendable {
    private let storage: SealedImage.Storage

    /// Makes a loader; all loaders share the images of the process.
    package init() {
        storage = .automatic
    }

    /// Makes a loader that puts images in a place of its own.
    init(storage: SealedImage.Storage) {
        self.storage = storage
    }

    /// Loads a plugin that was found before; the same bytes twice give the same image.
    ///
    /// - Throws: A ``ConnectorError`` of one of the codes of preflight, of missing dependencies, symbols and versions, or
    ///   `load-failed` with the linker's text as its cause.
    package func load(_ candidate: PluginCandidate) throws(ConnectorError) -> Plugin {
        if case .library(let name) = candidate.image { return try loadLibrary(name, candidate) }
        let bytes = try ImageBytes(path: candidate.path)
        guard bytes.readAll() else { throw Preflight.changed(candidate.path) }
        let image = try ELFImage(bytes)
        let dynamic = try Preflight.linkable(image)
        guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
        if let problem = Preflight.problems(of: candidate.manifest, image, dynamic).first { throw problem }
        let (digest, loaded) = try seal(bytes, candidate)
        return try plugin(candidate, digest, loaded)
    }

    private func seal(
        _ bytes: ImageBytes,
        _ candidate: PluginCandidate
    ) throws(ConnectorError) -> (ImageDigest, LoadedImage) {
        let name = candidate.path.lastPathComponent
        do throws(DynamicLinker.Failure) {
            let result = try unsafe bytes.withAllBytes { content throws(DynamicLinker.Failure) in
                let digest = unsafe ImageDigest(of: content)
                let image = unsafe try LoadedImages.shared.image(digest) { () throws(DynamicLinker.Failure) in
                    unsafe try SealedImage.load(content, named: name, digest: digest, storage: storage)
                }
                return (digest, image)
            }
            if let result { return result }
        } catch {
            throw ConnectorError(
                .loadFailed,
                "the dynamic linker refused \(candidate.path)",
                fix: "run: connector-host inspect \(candidate.path)",
                cause: error.text
            )
        }
        throw Preflight.changed(candidate.path)
    }

    /// Loads a foreign library under its own name, so that the process has no second copy of it.
    private func loadLibrary(_ name: String, _ candidate: PluginCandidate) throws(ConnectorError) -> Plugin {
        throw ConnectorError(.unsupported, name)
    }

    private func plugin(
        _ candidate: PluginCandidate,
        _ digest: ImageDigest,
        _ image: LoadedImage
    ) throws(ConnectorError) -> Plugin {
        var lifecycle: PluginLifecycle?
        if let entry = candidate.manifest.entry {
            lifecycle = try PluginLifecycle(entry: entry, of: image, manifest: candidate.manifest, path: candidate.path)
        }
        return Plugin(
            manifest: candidate.manifest,
            path: candidate.path,
            digest: digest,
            image: image,
            lifecycle: lifecycle
        )
    }
}
