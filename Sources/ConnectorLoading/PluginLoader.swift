// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Loads plugins: checks a file, seals the bytes that it checked, and hands those to the dynamic linker.
///
/// It blocks, because it reads files and runs images' constructors: call it off the cooperative pool, on any thread.
package struct PluginLoader: Sendable {
    /// The place of sealed images.
    package let storage: SealedImage.Storage

    /// The variable that names the directory in which images are kept, for profilers; without it they lie in memory.
    package static let keepVariable = "CONNECTOR_KEEP_IMAGES"

    /// Makes a loader; all loaders share the images of the process.
    package init() {
        let directory = unsafe getenv(Self.keepVariable).map { unsafe String(cString: $0) } ?? ""
        storage = directory.hasPrefix("/") ? .kept(directory) : .automatic
    }

    /// Makes a loader that puts images in a place of its own.
    package init(storage: SealedImage.Storage) {
        self.storage = storage
    }

    /// An image in memory, and where its code is if that is known.
    package typealias LoadedFile = (image: LoadedImage, code: MappedCode?)

    /// Loads a plugin that was found before; the same bytes twice give the same image.
    ///
    /// - Throws: A ``ConnectorError`` of one of the codes of preflight, of missing dependencies, symbols and versions, or
    ///   `load-failed` with the linker's text as its cause.
    package func load(_ candidate: PluginCandidate) throws(ConnectorError) -> Plugin {
        let (image, code): LoadedFile =
            switch candidate.image {
            case .file: try loadFile(candidate)
            case .library(let name): (try loadLibrary(name, candidate), nil)
            }
        // The next process, which reads a note about it, may be elsewhere.
        let path = if case .file = candidate.image { candidate.path.absolutePath } else { candidate.path }
        image.name(plugin: candidate.name, path: path)
        let table = try candidate.manifest.entry.map { entry throws(ConnectorError) in
            try PluginTable(entry: entry, of: image, code, manifest: candidate.manifest, path: candidate.path)
        }
        try Self.checkSymbols(candidate, image)
        return Plugin(
            manifest: candidate.manifest,
            path: candidate.path,
            image: image,
            table: table
        )
    }

    /// Loads a foreign library that the dynamic linker finds by its name.
    private func loadLibrary(_ name: String, _ candidate: PluginCandidate) throws(ConnectorError) -> LoadedImage {
        PluginImages.shared.beginLoading(candidate.name, path: candidate.path)
        defer { PluginImages.shared.endLoading(candidate.path) }
        return try ForeignLibrary(name: name, sidecar: candidate.sidecar).load()
    }

    /// Checks for functions that the file could not show: a system library may get them from another one.
    private static func checkSymbols(_ candidate: PluginCandidate, _ image: LoadedImage) throws(ConnectorError) {
        #if os(Linux)
            guard case .library = candidate.image else { return }
        #endif
        for capability in candidate.manifest.capabilities {
            for operation in capability.operations where unsafe image.symbol(named: operation.symbol) == nil {
                let role = "the operation \(operation.name) of \(capability.id)"
                throw Preflight.symbolAbsent(operation.symbol, role: role, path: candidate.path)
            }
        }
    }
}
