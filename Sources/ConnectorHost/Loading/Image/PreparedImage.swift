// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorManifest

    /// An image that was checked, hashed and sealed: all that is left is to load it.
    ///
    /// Once the image lies in memory the copy that was checked is given up, since many images may wait to be loaded.
    ///
    /// Sendable by this proof: everything in it is written in `init` and only read afterwards, but for the bytes, which are
    /// all read by then, so that looking at them changes nothing any more; and one thread after the other uses it.
    final class PreparedImage: @unchecked Sendable {
        /// What the image is.
        let digest: ImageDigest
        private let candidate: PluginCandidate
        private let sealed: SealedImage
        /// The copy that was checked, where something still needs it.
        private let checked: CheckedImage?

        /// Checks an image and seals what was checked.
        ///
        /// - Throws: What preflight finds.
        init(_ candidate: PluginCandidate, storage: SealedImage.Storage) throws(ConnectorError) {
            self.candidate = candidate
            let checked = try CheckedImage(candidate)
            let bytes = checked.image.bytes
            digest = unsafe ImageDigest(of: bytes.all)
            // An image that is loaded needs no place in memory, and a directory is only made when it is written to.
            let isLoaded = LoadedImages.shared[digest] != nil
            sealed = unsafe SealedImage(
                bytes.all,
                digest: digest,
                path: candidate.path,
                relatives: OriginRelatives.files(of: checked.image, checked.dynamic),
                storage: isLoaded ? .directory(PrivateDirectory.usualParent) : storage
            )
            self.checked = sealed.isInMemory && candidate.manifest.library == nil ? nil : checked
        }

        /// Hands the image to the dynamic linker; the same bytes twice give the same image.
        ///
        /// - Throws: Why the dynamic linker refused it, found by looking at what it needs.
        func load() throws(ConnectorError) -> LoadedImage {
            do throws(DynamicLinker.Failure) {
                return unsafe try LoadedImages.shared.image(digest) { () throws(DynamicLinker.Failure) in
                    if let checked, let existing = unsafe try checked.existing(digest) { return unsafe existing }
                    return unsafe try sealed.load()
                }
            } catch {
                guard let checked else {
                    let again = try CheckedImage(candidate)
                    throw PluginLoader.refused(again.image, again.dynamic, error)
                }
                throw PluginLoader.refused(checked.image, checked.dynamic, error)
            }
        }
    }

    /// An image that can be loaded as far as its file tells.
    private struct CheckedImage {
        let candidate: PluginCandidate
        let image: ELFImage
        let dynamic: DynamicSection

        /// Reads and checks a file, all of which is in memory then.
        init(_ candidate: PluginCandidate) throws(ConnectorError) {
            self.candidate = candidate
            let bytes = try ImageBytes(path: candidate.path)
            guard bytes.readAll() else { throw Preflight.changed(candidate.path) }
            image = try ELFImage(bytes)
            dynamic = try Preflight.linkable(image)
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
            if let problem = Preflight.problems(of: candidate.manifest, image, dynamic).first { throw problem }
        }

        /// The library as the process has loaded it already.
        func existing(_ digest: ImageDigest) throws(DynamicLinker.Failure) -> UnsafeMutableRawPointer? {
            unsafe try ForeignLibrary.existing(candidate, image, dynamic, digest)
        }
    }
#endif
