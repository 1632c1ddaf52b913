// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds the file of a needed library by the rules of ld.so(8), without loading anything.
///
/// Where those rules depend on the processor or on the linker's version, it finds every file that the linker may take.
package struct LibrarySearch {
    /// A file that was found.
    package struct Hit {
        /// Its path.
        package var path: String
        /// Whether it was found relative to the image that needs it.
        package var isRelativeToOrigin: Bool
        /// Its headers.
        package var image: ELFImage
    }

    /// What the linker may take for a name, and where it looks for that.
    package struct Result {
        /// The files, in the order in which the linker prefers them; the last one suits every processor.
        package var hits: [Hit] = []
        /// The folders of lists that it searches on the way, also those without such a file: a file put there later counts.
        package var folders: [String] = []
    }

    /// An image that needs libraries, and how it came to be needed itself.
    package struct Requester {
        /// Its folder, for `$ORIGIN`.
        package var origin: String
        /// The folders of `DT_RUNPATH`, which hold for its own needs only; nil if it has none.
        package var runpath: [SearchPath.Folder]?
        /// The folders of every `DT_RPATH` that holds for it: its own, then those of the images that led to it.
        package var rpath: [SearchPath.Folder]

        /// The program itself, in whose name the host loads.
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
        fileprivate static let programOrigin: String? = {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self).parentPath
        }()
    }

    private let architecture: Architecture
    private let environment: [SearchPath.Folder]
    private let cache = LibraryCache()

    /// Searches on behalf of an image for some architecture.
    package init(architecture: Architecture) {
        self.architecture = architecture
        environment =
            unsafe getenv("LD_LIBRARY_PATH").map {
                unsafe SearchPath.folders(
                    String(cString: $0),
                    origin: Requester.programOrigin ?? ".",
                    separators: [":", ";"]
                )
            } ?? []
    }

    /// The default folders of the dynamic linker on common distributions.
    private var systemFolders: [String] {
        let triplet = architecture.machine == 183 ? "aarch64-linux-gnu" : "x86_64-linux-gnu"
        return ["/lib/\(triplet)", "/usr/lib/\(triplet)", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    }

    /// What a needed library's name leads to; without files if it leads to none.
    package func find(_ name: String, for requester: Requester) -> Result {
        var result = Result()
        if name.contains("/") {
            for file in SearchPath.expansions(name, origin: requester.origin) {
                if let hit = hit(file.path, isRelative: file.isRelative) { result.hits.append(hit) }
            }
            return result
        }
        let lists = (requester.runpath == nil ? requester.rpath : []) + environment + (requester.runpath ?? [])
        for folder in lists where search(folder, for: name, &result) { return result }
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

    /// Looks into one folder.
    ///
    /// - Returns: Whether the linker looks no further.
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

    /// A file counts only if it was built for the same machine; the dynamic linker skips others, too.
    private func hit(_ path: String, isRelative: Bool = false) -> Hit? {
        guard DirectoryListing.exists(path), let bytes = try? ImageBytes(path: path),
            let image = try? ELFImage(bytes), image.architecture == architecture
        else { return nil }
        return Hit(path: path, isRelativeToOrigin: isRelative, image: image)
    }
}
