// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(macOS)
    package import ConnectorBase

    extension PluginLoader {
        /// Checks everything of an image that can be checked without running its code.
        package func check(_ candidate: PluginCandidate) throws(ConnectorError) {
            let bytes = try ImageBytes(path: candidate.path)
            let image = try MachOImage(bytes)
            try image.checkKind()
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
            if let problem = Preflight.abiProblem(candidate.manifest, path: candidate.path) { throw problem }
            try admission.check(candidate, bytes)
        }

        /// The bytes of static TLS that loading an image takes: none on this system.
        package static func staticTLS(of candidate: PluginCandidate) -> Int { 0 }

        /// Loads an image from its path: macOS checks the signature of what it maps, and has no memory files.
        package func loadFile(_ candidate: PluginCandidate) throws(ConnectorError) -> LoadedFile {
            let bytes = try ImageBytes(path: candidate.path)
            let image = try MachOImage(bytes)
            try image.checkKind()
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
            if let problem = Preflight.abiProblem(candidate.manifest, path: candidate.path) { throw problem }
            try admission.check(candidate, bytes)
            do throws(DynamicLinker.Failure) {
                let loaded = unsafe try bytes.withAllBytes { content throws(DynamicLinker.Failure) in
                    unsafe try LoadedImages.shared.image(of: content) { () throws(DynamicLinker.Failure) in
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
    }
#endif
