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

/// Loads plugins: checks a file, seals the checked bytes, and passes them to the dynamic linker.
///
/// Blocks, because it reads files and runs images' constructors: call it on any thread outside the cooperative pool.
package struct PluginLoader: Sendable {
    /// Where sealed images are put.
    package let storage: SealedImage.Storage
    /// Which images may be loaded.
    package private(set) var admission = PluginAdmission()

    /// The environment variable that names the directory in which images are kept, for profilers; without it they are
    /// in memory.
    package static let keepVariable = "CONNECTOR_KEEP_IMAGES"

    /// Creates a loader that admits every image; all loaders share the images of the process.
    package init() {
        let directory = unsafe getenv(Self.keepVariable).flatMap { unsafe String(validatingCString: $0) } ?? ""
        storage = directory.hasPrefix("/") ? .kept(directory) : .automatic
    }

    /// Creates a loader that puts sealed images in the given place.
    package init(storage: SealedImage.Storage) {
        self.storage = storage
    }

    /// The same loader with other rules about which images may be loaded.
    package func admitting(_ admission: PluginAdmission) -> PluginLoader {
        var loader = self
        loader.admission = admission
        return loader
    }

    /// A loaded image, and its code in memory if known.
    package typealias LoadedFile = (image: LoadedImage, code: MappedCode?)

    /// Loads a plugin from the catalog; the same bytes always yield the same image.
    ///
    /// - Throws: A ``ConnectorError`` of one of the codes of preflight, of missing dependencies, symbols and versions, of
    ///   ``PluginAdmission``, or `load-failed` with the linker's text as its cause.
    package func load(_ candidate: PluginCandidate) throws(ConnectorError) -> Plugin {
        let functions: PluginFunctions
        var code: MappedCode?
        switch candidate.image {
        case .file:
            let file =
                if let known = LoadedFiles.shared.file(of: candidate) { known } else {
                    try LoadedFiles.shared.load(candidate, admission) { () throws(ConnectorError) in
                        try loadFile(candidate)
                    }
                }
            (functions, code) = (.image(file.image.named(as: candidate)), file.code)
        case .library(let name):
            functions = .image(try loadLibrary(name, candidate).named(as: candidate))
        case .linked(let plugin): functions = .linked(plugin)
        }
        return try plugin(candidate, functions, code)
    }

    /// Loads a plugin whose image another process has checked and sealed, and checks it again.
    ///
    /// - Parameter sealed: The image's descriptor, which the caller closes.
    package func load(_ candidate: PluginCandidate, sealed: Int32) throws(ConnectorError) -> Plugin {
        let file = try loadFile(candidate, sealed: sealed)
        return try plugin(candidate, .image(file.image.named(as: candidate)), file.code)
    }

    private func plugin(
        _ candidate: PluginCandidate,
        _ functions: PluginFunctions,
        _ code: MappedCode?
    ) throws(ConnectorError) -> Plugin {
        let table = try candidate.manifest.entry.map { entry throws(ConnectorError) in
            try PluginTable(entry: entry, of: functions, code, manifest: candidate.manifest, path: candidate.path)
        }
        try Self.checkSymbols(candidate, functions)
        return Plugin(
            manifest: candidate.manifest,
            path: candidate.path,
            functions: functions,
            table: table
        )
    }

    /// Loads a foreign library that the dynamic linker finds by its name.
    private func loadLibrary(_ name: String, _ candidate: PluginCandidate) throws(ConnectorError) -> LoadedImage {
        try admission.check(candidate)
        PluginImages.shared.beginLoading(candidate.name, path: candidate.path)
        defer { PluginImages.shared.endLoading(candidate.path) }
        return try ForeignLibrary(name: name, sidecar: candidate.sidecar).load()
    }

    /// Checks for functions that the file itself may lack: a system library may get them from another one.
    private static func checkSymbols(_ candidate: PluginCandidate, _ functions: PluginFunctions) throws(ConnectorError)
    {
        #if os(Linux)
            if case .file = candidate.image { return }
        #endif
        for capability in candidate.manifest.capabilities {
            for operation in capability.operations where unsafe functions.symbol(named: operation.symbol) == nil {
                let role = "the operation \(operation.name) of \(capability.id)"
                let isForeign = candidate.manifest.entry == nil
                let fix =
                    isForeign
                    ? Preflight.symbolRemedy(operation.symbol, among: [])
                    : Preflight.exportRemedy(of: candidate.manifest)
                throw Preflight.symbolAbsent(operation.symbol, role: role, path: candidate.path, fix: fix)
            }
        }
    }
}
