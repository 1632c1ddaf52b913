// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds the file of a needed library by the rules of ld.so(8), without loading anything.
///
/// Where those rules depend on the processor or on the linker's version, it finds every file that the linker may
/// choose.
package struct LibrarySearch {
    /// A file that was found.
    package struct Hit {
        /// The file's path.
        package var path: String
        /// Whether it was found relative to the image that needs it.
        package var isRelativeToOrigin: Bool
        /// The file's ELF headers.
        package var image: ELFImage
    }

    /// The files that the linker may choose for a name, and the folders that it searches.
    package struct Result {
        /// The files, in the order in which the linker prefers them; the last one suits every processor.
        package var hits: [Hit] = []
        /// The folders that it searches from lists, including those without such a file, where one may be placed later.
        package var folders: [String] = []
    }

    /// An image that needs libraries, with its search paths.
    package struct Requester {
        /// The image's folder, for `$ORIGIN`.
        package var origin: String
        /// The folders of `DT_RUNPATH`, which apply only to its direct dependencies; nil if it has none.
        package var runpath: [SearchPath.Folder]?
        /// The folders of every `DT_RPATH` that applies: its own, then those of the images that requested it.
        package var rpath: [SearchPath.Folder]

        /// The program, which the host's `dlopen` calls count as the requester.
        package static var program: Requester {
            #if os(Linux)
                guard let program = LoadedLibraries.current().first, let origin = programOrigin else {
                    return Requester(origin: ".", runpath: nil, rpath: [])
                }
                return Requester(
                    origin: origin,
                    runpath: program.runpath.map { SearchPath.folders($0, origin: origin) },
                    rpath: program.runpath == nil
                        ? program.rpath.map { SearchPath.folders($0, origin: origin) } ?? [] : []
                )
            #else
                return Requester(origin: ".", runpath: nil, rpath: [])
            #endif
        }

        /// The folder of the program's file.
        fileprivate static let programOrigin: String? = "/proc/self/exe".linkTarget.map { target in
            String(decoding: target, as: UTF8.self).parentPath
        }
    }

    private let architecture: Architecture
    private let environment: [SearchPath.Folder]
    private let cache = LibraryCache()

    /// Creates a search for libraries of an architecture.
    ///
    /// - Parameter elsewhere: Whether a runner searches for them, which has none of this process's environment variables.
    package init(architecture: Architecture, elsewhere: Bool = false) {
        self.architecture = architecture
        guard !elsewhere else {
            environment = []
            return
        }
        environment =
            unsafe getenv("LD_LIBRARY_PATH").map {
                unsafe SearchPath.folders(
                    String(cString: $0),
                    origin: Requester.programOrigin ?? ".",
                    separators: ":;"
                )
            } ?? []
    }

    /// The default folders of the dynamic linker on common distributions.
    private var systemFolders: [String] {
        let triplet = architecture.machine == 183 ? "aarch64-linux-gnu" : "x86_64-linux-gnu"
        return ["/lib/\(triplet)", "/usr/lib/\(triplet)", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    }

    /// Finds the files for a needed library's name; the result has no hits if there are none.
    package func find(_ name: String, for requester: Requester) -> Result {
        var result = Result()
        if name.contains(ascii: "/") {
            for file in SearchPath.expansions(name, origin: requester.origin) {
                if let hit = hit(file.path, isRelative: file.isRelative) { result.hits.append(hit) }
            }
            return result
        }
        for folder in lists(for: requester) where search(folder, for: name, &result) { return result }
        let (special, plain) = cache?.paths(of: name) ?? ([], [])
        result.hits += special.compactMap { hit($0) }
        for path in plain {
            guard let hit = hit(path) else { continue }
            result.hits.append(hit)
            return result
        }
        for folder in systemFolders
        where search(SearchPath.Folder(path: folder, isRelative: false), for: name, &result) { return result }
        return result
    }

    /// The files beside an image that the linker may choose for a name; none if it would take one that is elsewhere.
    package func beside(_ name: String, for requester: Requester) -> [ImageBytes] {
        let lists = lists(for: requester)
        guard !name.contains(ascii: "/"), lists.contains(where: \.isRelative) else { return [] }
        var result = Result()
        for folder in lists where search(folder, for: name, &result) { break }
        return result.hits.filter(\.isRelativeToOrigin).map(\.image.bytes)
    }

    /// The folders that the linker searches for an image before those of the system.
    private func lists(for requester: Requester) -> [SearchPath.Folder] {
        (requester.runpath == nil ? requester.rpath : []) + environment + (requester.runpath ?? [])
    }

    /// Searches one folder.
    ///
    /// - Returns: Whether the linker stops searching here.
    private func search(_ folder: SearchPath.Folder, for name: String, _ result: inout Result) -> Bool {
        result.folders.append(folder.path)
        for variant in SearchPath.variants(of: folder.path) {
            result.folders.append(variant)
            if let hit = hit("\(variant)/\(name)", isRelative: folder.isRelative) { result.hits.append(hit) }
        }
        guard let hit = hit("\(folder.path)/\(name)", isRelative: folder.isRelative) else { return false }
        result.hits.append(hit)
        return folder.isCertain
    }

    /// Accepts only a file built for the same machine, like the dynamic linker.
    private func hit(_ path: String, isRelative: Bool = false) -> Hit? {
        guard DirectoryListing.exists(path), let bytes = try? ImageBytes(path: path),
            let image = try? ELFImage(bytes), image.architecture == architecture
        else { return nil }
        return Hit(path: path, isRelativeToOrigin: isRelative, image: image)
    }
}
