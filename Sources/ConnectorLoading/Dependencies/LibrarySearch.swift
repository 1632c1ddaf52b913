// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds the file of a needed library by the rules of ld.so(8), without loading anything.
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

    /// An image that needs libraries, and how it came to be needed itself.
    package struct Requester {
        /// Its folder, for `$ORIGIN`.
        package var origin: String
        /// The folders of `DT_RUNPATH`, which hold for its own needs only; nil if it has none.
        package var runpath: [Folder]?
        /// The folders of every `DT_RPATH` that holds for it: its own, then those of the images that led to it.
        package var rpath: [Folder]
    }

    /// A folder to look into, and whether it is named relative to the image.
    package typealias Folder = (path: String, isRelative: Bool)

    /// The maximum number of folders to search of a list.
    package static let folderLimit = 128

    private let architecture: Architecture
    private let environment: [String]
    private let cache = LibraryCache()

    /// Searches on behalf of an image for some architecture.
    package init(architecture: Architecture) {
        self.architecture = architecture
        environment = unsafe getenv("LD_LIBRARY_PATH").map { unsafe Self.split(String(cString: $0)) } ?? []
    }

    /// The default folders of the dynamic linker on common distributions.
    private var systemFolders: [String] {
        let triplet = architecture.machine == 183 ? "aarch64-linux-gnu" : "x86_64-linux-gnu"
        return ["/lib/\(triplet)", "/usr/lib/\(triplet)", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    }

    /// The file that a needed library's name leads to; nil if none does.
    package func find(_ name: String, for requester: Requester) -> Hit? {
        if name.contains("/") { return hit(Self.expand(name, origin: requester.origin)) }
        if requester.runpath == nil {
            if let hit = find(name, in: requester.rpath) { return hit }
        }
        for folder in environment {
            if let hit = hit((folder + "/" + name, false)) { return hit }
        }
        if let runpath = requester.runpath, let hit = find(name, in: runpath) {
            return hit
        }
        for path in cache?.paths(of: name) ?? [] {
            if let hit = hit((path, false)) { return hit }
        }
        for folder in systemFolders {
            if let hit = hit((folder + "/" + name, false)) { return hit }
        }
        return nil
    }

    private func find(_ name: String, in folders: [Folder]) -> Hit? {
        for folder in folders {
            if let hit = hit((folder.path + "/" + name, folder.isRelative)) { return hit }
        }
        return nil
    }

    /// The folders of a list, expanded for an image at an origin, without paths too long for any system.
    package static func folders(_ list: String, origin: String) -> [Folder] {
        split(list).prefix(folderLimit).map { expand($0, origin: origin) }.filter { $0.path.utf8.count < 4096 }
    }

    /// A file counts only if it was built for the same machine; the dynamic linker skips others, too.
    private func hit(_ candidate: (path: String, isRelative: Bool)) -> Hit? {
        guard DirectoryListing.exists(candidate.path), let bytes = try? ImageBytes(path: candidate.path),
            let image = try? ELFImage(bytes), image.architecture == architecture
        else { return nil }
        return Hit(path: candidate.path, isRelativeToOrigin: candidate.isRelative, image: image)
    }

    private static func split(_ list: String) -> [String] {
        list.split { $0 == ":" || $0 == ";" }.map(String.init)
    }

    /// Expands `$ORIGIN`, and `$LIB` to its usual value; in one pass, since the origin may itself contain such words.
    package static func expand(_ path: String, origin: String) -> (path: String, isRelative: Bool) {
        var result = ""
        var isRelative = false
        var rest = Substring(path)
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            let token = [("${ORIGIN}", origin), ("$ORIGIN", origin), ("${LIB}", "lib64"), ("$LIB", "lib64")].first {
                rest.hasPrefix($0.0)
            }
            result += token?.1 ?? "$"
            isRelative = isRelative || token?.0.contains("ORIGIN") == true
            rest = rest.dropFirst(token?.0.count ?? 1)
        }
        return (result + rest, isRelative)
    }
}
