// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(macOS)
    import ConnectorManifest

    extension PluginLoader {
        /// Loads an image from its own path: macOS checks the signature of what it maps itself, and has no files in memory.
        func loadFile(_ candidate: PluginCandidate) throws(ConnectorError) -> (ImageDigest, LoadedImage) {
            let bytes = try ImageBytes(path: candidate.path)
            let image = try MachOImage(bytes)
            try image.checkKind()
            guard candidate.isDescribed(by: image),
                let digest = unsafe bytes.withAllBytes({ unsafe ImageDigest(of: $0) })
            else { throw Preflight.changed(candidate.path) }
            if let problem = Preflight.abiProblem(candidate.manifest, path: candidate.path) { throw problem }
            do throws(DynamicLinker.Failure) {
                let loaded = unsafe try LoadedImages.shared.image(digest) { () throws(DynamicLinker.Failure) in
                    unsafe try DynamicLinker.load(path: candidate.path)
                }
                return (digest, loaded)
            } catch {
                throw ConnectorError(.loadFailed, "the dynamic linker refused \(candidate.path)", cause: error.text)
            }
        }
    }
#endif
