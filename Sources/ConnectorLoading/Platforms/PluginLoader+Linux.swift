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

        /// Checks everything about an image that can be checked without running its code.
        ///
        /// - Throws: As ``load(_:)`` does.
        package func check(_ candidate: PluginCandidate) throws(ConnectorError) {
            let checked = try checkFile(candidate, ImageBytes(path: candidate.path))
            let left = LoadedImages.shared.usage.staticTLSLeft ?? .max
            if checked.staticTLS > left { throw exhausted(checked) }
        }

        /// Checks an image as if it were at another path, with the libraries that it would find there and their symbols.
        ///
        /// - Throws: As ``check(_:)`` does, with the image's own path, but not that this process has too little static TLS left.
        package func check(_ candidate: PluginCandidate, at path: String) throws(ConnectorError) {
            let bytes = try ImageBytes(path: candidate.path, shownAs: path)
            let libraries: [ImageBytes]
            do throws(ConnectorError) {
                let checked = try admitting(PluginAdmission()).checkFile(candidate, bytes)
                let closure = DependencyClosure(of: checked.image, checked.soundness.dynamic)
                if let problem = DependencyDiagnosis(closure).problems.first { throw problem }
                libraries = checked.dependencies.relatives
            } catch {
                throw error.replacing(path, with: candidate.path)
            }
            // A signature is beside the file itself.
            try admission.check(candidate, ImageBytes(path: candidate.path), libraries: libraries)
        }

        /// The bytes of static TLS that loading an image takes; 0 if it cannot be read.
        package static func staticTLS(of candidate: PluginCandidate) -> Int {
            guard case .file = candidate.image, let bytes = try? ImageBytes(path: candidate.path),
                let image = try? ELFImage(bytes), let dynamic = DynamicSection(image)
            else { return 0 }
            return image.staticTLS(dynamic)
        }

        /// Checks an image whose file is open.
        ///
        /// - Parameter elsewhere: Whether another process will load the image.
        private func checkFile(
            _ candidate: PluginCandidate,
            _ bytes: ImageBytes,
            elsewhere: Bool = false
        ) throws(ConnectorError) -> CheckedFile {
            guard bytes.readAll() else { throw Preflight.changed(bytes.path) }
            let image = try ELFImage(bytes)
            let soundness = try Preflight.linkable(image)
            let dynamic = soundness.dynamic
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(bytes.path) }
            if let problem = Preflight.problems(of: candidate.manifest, soundness).first { throw problem }
            let dependencies = try NewDependencies(of: image, dynamic, elsewhere: elsewhere)
            let staticTLS = image.staticTLS(dynamic) + dependencies.staticTLS
            if let problem = StaticTLS.excess(bytes.path, needs: staticTLS) { throw problem }
            try admission.check(candidate, bytes, libraries: dependencies.relatives)
            return CheckedFile(
                bytes: bytes,
                image: image,
                soundness: soundness,
                dependencies: dependencies,
                staticTLS: staticTLS
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
        /// - Parameter descriptor: An image that is already sealed; nil for the candidate's file.
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
                    staticTLS: checked.staticTLS,
                    warnings: checked.dependencies.warnings
                ) { () throws(ConnectorError) in
                    // Check this before loading: the dynamic linker's own failure gives no helpful reason.
                    let left = LoadedImages.shared.usage.staticTLSLeft ?? .max
                    guard checked.staticTLS <= left else { throw exhausted(checked) }
                    return unsafe try load(checked, content, candidate, sealed: descriptor)
                }
            }
            guard let result else { throw Preflight.changed(candidate.path) }
            try BroughtLibraries.shared.watch(checked.dependencies.relatives)
            LoadedFiles.shared.add(result, path: candidate.path, stamp: checked.bytes.stamp)
            return (result, MappedCode(checked.soundness, result, entry: candidate.manifest.entry))
        }

        private func load(
            _ checked: CheckedFile,
            _ content: UnsafeRawBufferPointer,
            _ candidate: PluginCandidate,
            sealed descriptor: Int32?
        ) throws(ConnectorError) -> LoadedImage {
            let (image, dynamic) = (checked.image, checked.soundness.dynamic)
            // Again, because another image may have brought libraries of the same names since the image was checked; from here on, images
            // load one after another.
            let brought = try BroughtLibraries.shared.check(checked.dependencies.relatives)
            var names: [String] = []
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
                    sealed: descriptor,
                    storage: storage
                )
                PluginImages.shared.beginLoading(candidate.name, path: candidate.path)
                defer { PluginImages.shared.endLoading(candidate.path) }
                names = BroughtLibraries.shared.add(brought)
                return try sealed.load()
            } catch {
                BroughtLibraries.shared.remove(names)
                // Libraries of the application may have taken a part that is not counted.
                if error.text.contains("static TLS") { throw exhausted(checked, cause: error.text) }
                throw DependencyDiagnosis.refusal(image, dynamic, error)
            }
        }

        /// Checks an image with the libraries beside it, and seals the checked bytes for a process that loads them.
        ///
        /// - Returns: What all share that seal the same image at the same time.
        package func seal(_ candidate: PluginCandidate) throws(ConnectorError) -> SealedPlugin {
            try SealedPlugins.shared.plugin(of: candidate, admission) { () throws(ConnectorError) in
                let bytes = try ImageBytes(path: candidate.path)
                let checked = try checkFile(candidate, bytes, elsewhere: true)
                var libraries: [SealedImageFile] = []
                for library in checked.dependencies.relatives { libraries.append(try .sealing(library)) }
                return SealedPlugin(image: try .sealing(bytes), libraries: libraries)
            }
        }

        /// Loads a library that another process has found beside a plugin, checked and sealed, so that the plugin finds it.
        ///
        /// - Parameters:
        ///   - path: The file that the bytes were read from.
        ///   - descriptor: The sealed bytes; the caller closes the descriptor.
        /// - Returns: A warning if the process itself has another library of that name, which the plugin then uses; nil otherwise, and for
        ///   bytes that are loaded already.
        package func load(library path: String, sealed descriptor: Int32) throws(ConnectorError) -> String? {
            let bytes = try ImageBytes(descriptor: descriptor, path: path)
            guard bytes.readAll() else { throw Preflight.changed(path) }
            let image = try ELFImage(bytes)
            let dynamic = try Preflight.linkable(image).dynamic
            _ = try NewDependencies(of: image, dynamic)
            var warning: String?
            _ = try unsafe bytes.withAllBytes { content throws(ConnectorError) in
                unsafe try LoadedImages.shared.image(
                    of: content,
                    name: path.lastPathComponent,
                    path: path,
                    staticTLS: image.staticTLS(dynamic)
                ) { () throws(ConnectorError) in
                    // Another plugin of this process may have brought a library of the same name; here, images load one after another.
                    let brought = try BroughtLibraries.shared.check([bytes])
                    warning = try BroughtLibraries.shared.warning(about: bytes)
                    let sealed = unsafe SealedImage(
                        content,
                        path: path,
                        relatives: [],
                        sealed: descriptor,
                        storage: storage
                    )
                    let names = warning == nil ? BroughtLibraries.shared.add(brought) : []
                    do throws(DynamicLinker.Failure) {
                        return try sealed.load()
                    } catch {
                        BroughtLibraries.shared.remove(names)
                        throw DependencyDiagnosis.refusal(image, dynamic, error)
                    }
                }
            }
            return warning
        }
    }

    /// The checked bytes of a plugin's image, and of the libraries beside it, sealed, for another process that loads them.
    ///
    /// Whoever gets it from `seal` owns it, with all others that do: the files in memory go with the last of them.
    package final class SealedPlugin: Sendable {
        /// The plugin's image.
        package let image: SealedImageFile
        /// The libraries that the image brings along, each after those that it needs.
        package let libraries: [SealedImageFile]

        init(image: SealedImageFile, libraries: [SealedImageFile]) {
            self.image = image
            self.libraries = libraries
        }

        /// The files that the libraries were read from.
        package var librariesBeside: [LibraryBeside] {
            libraries.map { LibraryBeside(path: $0.path, stamp: $0.stamp) }
        }
    }

    /// The checked bytes of an image in a sealed file in memory.
    package final class SealedImageFile: Sendable {
        /// The file that the bytes were read from.
        package let path: String
        /// The bytes.
        package let content: ImageContent
        /// The state of the file that the bytes were read from.
        let stamp: FileStamp
        /// The descriptor of the file in memory, open as long as this object lives.
        package var descriptor: Int32 { file.descriptor }
        private let file: MemoryFile

        private init(
            _ bytes: UnsafeRawBufferPointer,
            path: String,
            _ stamp: FileStamp
        ) throws(SystemError) {
            self.path = path
            self.stamp = stamp
            file = unsafe try MemoryFile.sealing(bytes, name: path.lastPathComponent)
            content = unsafe file.content(bytes)
        }

        /// Seals bytes that have been checked.
        ///
        /// - Throws: `unavailable` if descriptors or memory are used up; `unsupported` if the system has no files in memory.
        static func sealing(_ bytes: ImageBytes) throws(ConnectorError) -> SealedImageFile {
            let sealed: SealedImageFile?
            do throws(SystemError) {
                sealed = try unsafe bytes.withAllBytes { content throws(SystemError) in
                    try unsafe SealedImageFile(content, path: bytes.path, bytes.stamp)
                }
            } catch {
                throw failure(error, bytes.path)
            }
            guard let sealed else { throw Preflight.changed(bytes.path) }
            return sealed
        }

        private static func failure(_ error: SystemError, _ path: String) -> ConnectorError {
            guard MemoryFile.isShortage(error) else {
                return ConnectorError(
                    .unsupported,
                    "the system has no files in memory, in which \(path) is handed to its runner",
                    fix: error.limitRemedy
                        ?? "let the seccomp filter of the container, or of the service, permit memfd_create(2), "
                        + "or write \"isolation\": \"none\"",
                    cause: error.description
                )
            }
            return ConnectorError(
                .unavailable,
                "there is no room for the file in memory in which \(path) is handed to its runner",
                fix: "raise the process's limit of open files (ulimit -n), or its memory",
                cause: error.description,
                isRetryable: true
            )
        }
    }
#endif
