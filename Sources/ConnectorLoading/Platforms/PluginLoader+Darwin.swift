// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(macOS)
    package import ConnectorBase

    extension PluginLoader {
        /// Checks everything about an image that can be checked without running its code.
        package func check(_ candidate: PluginCandidate) throws(ConnectorError) { _ = try checkFile(candidate) }

        /// Checks an image as if it were at another path.
        package func check(_ candidate: PluginCandidate, at path: String) throws(ConnectorError) {
            try check(candidate)
        }

        private func checkFile(_ candidate: PluginCandidate) throws(ConnectorError) -> ImageBytes {
            let bytes = try ImageBytes(path: candidate.path)
            let image = try MachOImage(bytes)
            try image.checkKind()
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
            if let problem = Preflight.abiProblem(candidate.manifest, path: candidate.path) { throw problem }
            try admission.check(candidate, bytes)
            return bytes
        }

        /// The bytes of static TLS that loading an image takes: none on this system.
        package static func staticTLS(of candidate: PluginCandidate) -> Int { 0 }

        /// Loads an image from its path: macOS checks the signature of what it maps, and has no memory files.
        ///
        /// - Parameter descriptor: An image that is already sealed, which this system does not have; nil for the
        ///   candidate's file.
        func loadFile(_ candidate: PluginCandidate, sealed descriptor: Int32? = nil) throws(ConnectorError)
            -> LoadedFile
        {
            guard descriptor == nil else { throw Self.hasNoSealing(candidate) }
            let bytes = try checkFile(candidate)
            do throws(DynamicLinker.Failure) {
                let loaded = unsafe try bytes.withAllBytes { content throws(DynamicLinker.Failure) in
                    unsafe try LoadedImages.shared.image(of: content, name: candidate.name, path: candidate.path) {
                        () throws(DynamicLinker.Failure) in
                        let handle = unsafe try DynamicLinker.load(path: candidate.path)
                        return unsafe LoadedImage(handle, content: ImageContent(hashing: content))
                    }
                }
                if let loaded { return (loaded, nil) }
            } catch {
                throw ConnectorError(.loadFailed, "the dynamic linker refused \(candidate.path)", cause: error.text)
            }
            throw Preflight.changed(candidate.path)
        }

        /// Checks an image for another process, which loads it from its path: there are no memory files to hand it over in.
        package func seal(_ candidate: PluginCandidate) throws(ConnectorError) -> SealedPlugin {
            let bytes = try checkFile(candidate)
            let content = unsafe bytes.withAllBytes { unsafe ImageContent(hashing: $0) }
            guard let content else { throw Preflight.changed(candidate.path) }
            return SealedPlugin(image: SealedImageFile(path: candidate.path, content: content), libraries: [])
        }

        /// Always throws: no process has sealed the library.
        package func load(library path: String, sealed descriptor: Int32) throws(ConnectorError) -> String? {
            throw ConnectorError(
                .unsupported,
                "the system has no files in memory, in which \(path) is handed to a runner",
                fix: "write \"isolation\": \"none\""
            )
        }

        private static func hasNoSealing(_ candidate: PluginCandidate) -> ConnectorError {
            ConnectorError(
                .unsupported,
                "the system has no files in memory, in which \(candidate.path) is handed to its runner",
                fix: "write \"isolation\": \"none\""
            )
        }
    }

    /// A plugin's image that was checked for another process, which compares its digest with what it finds at the path.
    package struct SealedPlugin: Sendable {
        /// The plugin's image.
        package let image: SealedImageFile
        /// None: the dynamic linker finds the libraries that the image needs.
        package let libraries: [SealedImageFile]
        /// The files that the libraries were read from.
        package var librariesBeside: [LibraryBeside] { [] }
    }

    /// An image that was checked, and stays at its path.
    package struct SealedImageFile: Sendable {
        /// The file that the bytes were read from.
        package let path: String
        /// The digest of the bytes.
        package let content: ImageContent
        /// -1: there is no file in memory.
        package var descriptor: Int32 { -1 }
    }
#endif
