// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

#if os(Linux)
    import ConnectorBase
    import ConnectorPlatform

    extension PluginLoader {
        /// Checks an image, seals the checked bytes, and loads them.
        func loadFile(_ candidate: PluginCandidate) throws(ConnectorError) -> LoadedFile {
            let bytes = try ImageBytes(path: candidate.path)
            guard bytes.readAll() else { throw Preflight.changed(candidate.path) }
            let image = try ELFImage(bytes)
            let soundness = try Preflight.linkable(image)
            let dynamic = soundness.dynamic
            guard candidate.isDescribed(by: image) else { throw Preflight.changed(candidate.path) }
            if let problem = Preflight.problems(of: candidate.manifest, soundness).first { throw problem }
            let dependencies = try NewDependencies(of: image, dynamic)
            try admission.check(candidate, bytes, libraries: dependencies.relatives)
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
    }
#endif
