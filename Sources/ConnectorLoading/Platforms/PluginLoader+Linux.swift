// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

#if os(Linux)
    package import ConnectorBase
    import ConnectorPlatform

    extension PluginLoader {
        /// An image that was checked, and may be loaded.
        private struct CheckedFile {
            let bytes: ImageBytes
            let image: ELFImage
            let soundness: ImageSoundness
            let dependencies: NewDependencies
            /// The bytes of static TLS that the image and its libraries take.
            let staticTLS: Int
        }

        /// Checks everything of an image that can be checked without running its code.
        ///
        /// - Throws: As ``load(_:)`` does.
        package func check(_ candidate: PluginCandidate) throws(ConnectorError) {
            let checked = try checkFile(candidate, ImageBytes(path: candidate.path))
            let left = LoadedImages.shared.usage.staticTLSLeft ?? .max
            if checked.staticTLS > left { throw exhausted(checked) }
        }

        /// The bytes of static TLS that loading an image takes; 0 if it cannot be read.
        package static func staticTLS(of candidate: PluginCandidate) -> Int {
            guard case .file = candidate.image, let bytes = try? ImageBytes(path: candidate.path),
                let image = try? ELFImage(bytes), let dynamic = DynamicSection(image)
            else { return 0 }
            return image.staticTLS(dynamic)
        }

        private func checkFile(
            _ candidate: PluginCandidate,
            _ bytes: ImageBytes
        ) throws(ConnectorError) -> CheckedFile {
            guard bytes.readAll() else { throw Preflight.changed(candidate.path) }
            let image = try ELFImage(bytes)
            let soundness = try Preflight.linkable(image)
            let dynamic = soundness.dynamic
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
            if let problem = Preflight.problems(of: candidate.manifest, soundness).first { throw problem }
            let dependencies = try NewDependencies(of: image, dynamic)
            try admission.check(candidate, bytes, libraries: dependencies.relatives)
            return CheckedFile(
                bytes: bytes,
                image: image,
                soundness: soundness,
                dependencies: dependencies,
                staticTLS: image.staticTLS(dynamic) + dependencies.staticTLS
            )
        }

        private func exhausted(_ checked: CheckedFile, cause: String? = nil) -> ConnectorError {
            StaticTLS.exhausted(
                checked.bytes.path,
                needs: checked.staticTLS,
                used: LoadedImages.shared.usage.staticTLS,
                cause: cause
            )
        }

        /// Checks an image, seals the checked bytes, and loads them.
        ///
        /// - Parameter descriptor: An image that is sealed already; nil for the candidate's file.
        func loadFile(_ candidate: PluginCandidate, sealed descriptor: Int32? = nil) throws(ConnectorError)
            -> LoadedFile
        {
            let bytes =
                if let descriptor { try ImageBytes(descriptor: descriptor, path: candidate.path) } else {
                    try ImageBytes(path: candidate.path)
                }
            let checked = try checkFile(candidate, bytes)
            let result = unsafe try checked.bytes.withAllBytes { content throws(ConnectorError) in
                unsafe try LoadedImages.shared.image(
                    of: content,
                    name: candidate.name,
                    path: candidate.path,
                    staticTLS: checked.staticTLS
                ) { () throws(ConnectorError) in
                    // Before the end: what fails inside the dynamic linker fails without a reason that helps.
                    let left = LoadedImages.shared.usage.staticTLSLeft ?? .max
                    guard checked.staticTLS <= left else { throw exhausted(checked) }
                    return unsafe try load(checked, content, candidate)
                }
            }
            guard let result else { throw Preflight.changed(candidate.path) }
            LoadedFiles.shared.add(result, path: candidate.path, identity: checked.bytes.identity)
            return (result, MappedCode(checked.soundness, result, entry: candidate.manifest.entry))
        }

        private func load(
            _ checked: CheckedFile,
            _ content: UnsafeRawBufferPointer,
            _ candidate: PluginCandidate
        ) throws(ConnectorError) -> LoadedImage {
            let (image, dynamic) = (checked.image, checked.soundness.dynamic)
            do throws(DynamicLinker.Failure) {
                // The process may already have loaded a library that a sidecar names by its path.
                if candidate.manifest.library != nil,
                    let existing = unsafe try ForeignLibrary.existing(image, dynamic, content)
                {
                    return existing
                }
                let sealed = unsafe SealedImage(
                    content,
                    path: candidate.path,
                    relatives: checked.dependencies.relatives,
                    keepsLayout: checked.dependencies.climbsFromOrigin,
                    storage: storage
                )
                PluginImages.shared.beginLoading(candidate.name, path: candidate.path)
                defer { PluginImages.shared.endLoading(candidate.path) }
                return try sealed.load()
            } catch {
                // Libraries of the application may have taken a part that is not counted.
                if error.text.contains("static TLS") { throw exhausted(checked, cause: error.text) }
                throw DependencyDiagnosis.refusal(image, dynamic, error)
            }
        }

        /// Checks an image, and seals the checked bytes for a process that loads them.
        package func seal(_ candidate: PluginCandidate) throws(ConnectorError) -> SealedPlugin {
            let bytes = try ImageBytes(path: candidate.path)
            _ = try checkFile(candidate, bytes)
            let sealed = unsafe bytes.withAllBytes { content in
                let file = unsafe MemoryFile.sealing(content, name: candidate.path.lastPathComponent)
                return unsafe SealedPlugin(content: file.content(content), file: file)
            }
            guard let sealed else { throw Preflight.changed(candidate.path) }
            guard sealed.descriptor >= 0 else {
                throw ConnectorError(
                    .unsupported,
                    "the system has no files in memory, in which \(candidate.path) is handed to its runner",
                    cause: SystemError().description
                )
            }
            return sealed
        }
    }

    /// The checked bytes of a plugin's image, sealed, for another process that loads them.
    package final class SealedPlugin: Sendable {
        /// The bytes.
        package let content: ImageContent
        /// The descriptor of the file in memory, open as long as this object lives.
        package var descriptor: Int32 { file.descriptor }
        private let file: MemoryFile

        init(content: ImageContent, file: consuming MemoryFile) {
            self.content = content
            self.file = file
        }
    }
#endif
