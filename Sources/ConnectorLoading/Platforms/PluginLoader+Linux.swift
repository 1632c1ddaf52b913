// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

#if os(Linux)
    package import ConnectorBase
    import ConnectorPlatform

    extension PluginLoader {
        /// Checks an image, seals the checked bytes, and loads them.
        ///
        /// - Parameter descriptor: An image that is sealed already; nil for the candidate's file.
        func loadFile(_ candidate: PluginCandidate, sealed descriptor: Int32? = nil) throws(ConnectorError) -> LoadedFile {
            let bytes =
                if let descriptor { try ImageBytes(descriptor: descriptor, path: candidate.path) } else {
                    try ImageBytes(path: candidate.path)
                }
            let (image, soundness, dependencies) = try check(candidate, bytes)
            let dynamic = soundness.dynamic
            do throws(DynamicLinker.Failure) {
                let result = unsafe try bytes.withAllBytes { content throws(DynamicLinker.Failure) in
                    unsafe try LoadedImages.shared.image(of: content) { () throws(DynamicLinker.Failure) in
                        // The process may already have loaded a library that a sidecar names by its path.
                        if candidate.manifest.library != nil,
                            let existing = unsafe try ForeignLibrary.existing(image, dynamic, content)
                        {
                            return existing
                        }
                        let sealed = unsafe SealedImage(
                            content,
                            path: candidate.path,
                            relatives: dependencies.relatives,
                            keepsLayout: dependencies.climbsFromOrigin,
                            storage: storage
                        )
                        PluginImages.shared.beginLoading(candidate.name, path: candidate.path)
                        defer { PluginImages.shared.endLoading(candidate.path) }
                        return try sealed.load()
                    }
                }
                if let result { return (result, MappedCode(soundness, result, entry: candidate.manifest.entry)) }
            } catch {
                throw DependencyDiagnosis.refusal(image, dynamic, error)
            }
            throw Preflight.changed(candidate.path)
        }

        /// Checks an image, and seals the checked bytes for a process that loads them.
        package func seal(_ candidate: PluginCandidate) throws(ConnectorError) -> SealedPlugin {
            let bytes = try ImageBytes(path: candidate.path)
            _ = try check(candidate, bytes)
            let sealed = unsafe bytes.withAllBytes { content in
                let file = unsafe MemoryFile.sealing(content, name: candidate.path.lastPathComponent)
                return unsafe SealedPlugin(content: file.content(content), file: file)
            }
            guard let sealed else { throw Preflight.changed(candidate.path) }
            guard sealed.file.descriptor >= 0 else {
                throw ConnectorError(
                    .unsupported,
                    "the system has no files in memory, in which \(candidate.path) is handed to its runner",
                    cause: SystemError().description
                )
            }
            return sealed
        }

        /// What the checks of an image find.
        private typealias Checked = (image: ELFImage, soundness: ImageSoundness, dependencies: NewDependencies)

        private func check(_ candidate: PluginCandidate, _ bytes: ImageBytes) throws(ConnectorError) -> Checked {
            guard bytes.readAll() else { throw Preflight.changed(candidate.path) }
            let image = try ELFImage(bytes)
            let soundness = try Preflight.linkable(image)
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
            if let problem = Preflight.problems(of: candidate.manifest, soundness).first { throw problem }
            let dependencies = try NewDependencies(of: image, soundness.dynamic)
            try admission.check(candidate, bytes, libraries: dependencies.relatives)
            return (image, soundness, dependencies)
        }
    }

    /// The checked bytes of a plugin's image, sealed, for another process that loads them.
    package final class SealedPlugin: Sendable {
        /// The bytes.
        package let content: ImageContent
        /// The file in memory.
        package let file: MemoryFile

        init(content: ImageContent, file: consuming MemoryFile) {
            self.content = content
            self.file = file
        }
    }
#endif
