// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// An existing library of the system that a sidecar describes.
///
/// Loaded from its file, as any program would load it, and not sealed: the process may already have it, and a second
/// copy, for example of SQLite, would break the first one's locks.
package struct ForeignLibrary {
    /// The name that the dynamic linker resolves, such as `libz.so.1`.
    package let name: String
    /// The sidecar that names the library, for messages.
    package let sidecar: String?

    /// Loads the library by its name, or returns the loaded one. Blocks; its constructors run.
    package func load() throws(ConnectorError) -> LoadedImage {
        let bytes = try ImageBytes(path: file())
        let image = try ELFImage(bytes)
        let dynamic = try Preflight.linkable(image).dynamic
        do throws(DynamicLinker.Failure) {
            let loaded = unsafe try bytes.withAllBytes { content throws(DynamicLinker.Failure) in
                unsafe try LoadedImages.shared.image(of: content, name: name, path: bytes.path) {
                    () throws(DynamicLinker.Failure) in
                    let wasLoaded = DynamicLinker.keep(loaded: name)
                    let handle = unsafe try DynamicLinker.load(path: name)
                    return unsafe LoadedImage(
                        handle,
                        content: ImageContent(hashing: content),
                        wasLoaded: wasLoaded
                    )
                }
            }
            if let loaded { return loaded }
        } catch {
            throw DependencyDiagnosis.refusal(image, dynamic, error)
        }
        throw Preflight.changed(bytes.path)
    }

    /// The file to which the dynamic linker resolves the name.
    package func file() throws(ConnectorError) -> String {
        #if os(Linux)
            if let loaded = LoadedLibraries.current().first(where: { $0.answers(to: name) }), let file = loaded.file {
                return file
            }
        #endif
        if let hit = LibrarySearch(architecture: .host).find(name, for: .program).hits.first { return hit.path }
        throw ConnectorError(
            .missingDependency,
            "\(sidecar ?? "the manifest") describes \(name), which is not on this system",
            fix: "install the package that has \(name), or make its folder known with ldconfig"
        )
    }

    /// A loaded library with the same name and the same bytes; nil if there is none.
    package static func existing(
        _ image: ELFImage,
        _ dynamic: DynamicSection,
        _ content: UnsafeRawBufferPointer
    ) throws(DynamicLinker.Failure) -> LoadedImage? {
        #if os(Linux)
            guard let soname = dynamic.soname.flatMap({ image.string(dynamic, at: $0) }),
                let library = LoadedLibraries.current().first(where: { $0.soname == soname }), let file = library.file,
                let bytes = try? ImageBytes(path: file),
                unsafe bytes.withAllBytes({ unsafe $0.elementsEqual(content) }) == true
            else { return nil }
            let handle = unsafe try DynamicLinker.load(path: library.path)
            return unsafe LoadedImage(handle, content: ImageContent(hashing: content), wasLoaded: true)
        #else
            return nil
        #endif
    }
}
